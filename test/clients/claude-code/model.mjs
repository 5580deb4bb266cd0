import { once } from "node:events";
import { createServer } from "node:http";

/**
 * A model that makes these tool calls, one after the other, and is done then; gives what it was offered, shown and
 * answered. What else Claude Code asks of its service is not there.
 */
export async function openModel(calls) {
  const seen = { url: "", offered: [], shown: "", results: [] };
  const waiting = [...calls];

  async function answer(request, response) {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (!/^\/v1\/messages(\?|$)/.test(request.url ?? "")) return response.writeHead(404).end();
    const { model, tools, messages } = JSON.parse(body);
    seen.offered = tools.map(({ name }) => name);
    seen.shown = JSON.stringify(messages);
    seen.results = resultsIn(messages);
    const call = waiting.shift();
    const id = `${calls.length - waiting.length}`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const message = { id: `msg_${id}`, type: "message", role: "assistant", model, content: [], ...unfinished };
    const events = [{ type: "message_start", message }, ...blockOf(call, id), ...ending(call)];
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    return response.end();
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  seen.url = `http://127.0.0.1:${server.address().port}`;
  return seen;
}

const unfinished = { stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };

/** The texts of what tools gave back, in order. */
function resultsIn(messages) {
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === "tool_result")
    .map(({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text).join("\n")));
}

function blockOf(call, id) {
  const block = call ? { type: "tool_use", id: `toolu_${id}`, name: call.name, input: {} } : { type: "text", text: "" };
  const delta = call
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text: "Done." };
  return [
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
  ];
}

function ending(call) {
  const delta = { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null };
  return [{ type: "message_delta", delta, usage: { output_tokens: 1 } }, { type: "message_stop" }];
}
