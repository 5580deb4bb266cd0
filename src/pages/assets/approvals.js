// Keeps the list of waiting approvals up to date. Without scripts, it is as old as the page.

for (const list of document.querySelectorAll("[data-live]")) {
  new EventSource(list.dataset.live).addEventListener("approvals", ({ data }) => {
    const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : undefined;
    const template = document.createElement("template");
    // The server has rendered and escaped it, as the page itself.
    template.innerHTML = data;
    list.replaceChildren(template.content);
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  });
}
