/**
 * Listens for what a person does with elements that have a `data-action`: clicks, other values of fields, and drops. An
 * element with `data-drag` can be dragged; the value of a drop is `data-drag` of what was dragged, a space, and the value
 * of the element that it is dropped on, which has `data-drop` with the name of the action.
 */
export function listenForActions(content: HTMLElement, perform: (action: string, value: string) => void): void {
  const act = (event: Event) => {
    const element = findElement(event, "[data-action]");
    // A click on a field acts when it has changed the value.
    if (!element || (event.type === "click" && element.matches("select, input"))) return;
    perform(element.dataset["action"] ?? "", "value" in element ? String(element.value) : "");
  };
  content.addEventListener("click", act);
  content.addEventListener("change", act);

  let dragged: string | undefined;
  content.addEventListener("dragstart", (event) => {
    dragged = findElement(event, "[data-drag]")?.dataset["drag"];
  });
  content.addEventListener("dragover", (event) => {
    if (dragged !== undefined && findElement(event, "[data-drop]")) event.preventDefault();
  });
  content.addEventListener("drop", (event) => {
    const target = findElement(event, "[data-drop]");
    if (dragged === undefined || !target) return;
    event.preventDefault();
    perform(target.dataset["drop"] ?? "", `${dragged} ${target.dataset["value"] ?? ""}`);
    dragged = undefined;
  });
}

function findElement({ target }: Event, selector: string): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(selector) : null;
}
