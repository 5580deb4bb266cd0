/**
 * The minimal server: no SDK and no checks, the upstream's response as text. JavaScript, so that no types are
 * stripped. `node bare.mjs stdio|http ORIGIN PATH TOKEN`; over HTTP it prints its address.
 */
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Pool } from "undici";

const [face, origin, path, token] = process.argv.slice(2);
const pool = new Pool(origin, { connections: 32 });
const headers = { authorization: `Bearer ${token}`, accept: "application/json" };

async function answer({ id, method }) {
  return JSON.stringify({ jsonrpc: "2.0", id, result: method === "tools/call" ? await call() : hello });
}

const hello = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "bare", version: "1.0.0" } };

async function call() {
  const { body } = await pool.request({ method: "GET", path, headers });
  return { content: [{ type: "text", text: await body.text() }], resultType: "complete" };
}

if (face === "stdio") {
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const message = JSON.parse(line);
    if (message.id !== undefined) process.stdout.write(`${await answer(message)}\n`);
  });
} else {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", async () => {
      const body = await answer(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
      response.end(body);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}
