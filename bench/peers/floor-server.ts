import { createServer } from "node:http";

/**
 * The least that a server over HTTP does with Node's own module: it parses each request and answers with the same text.
 * Arguments: the port and the text.
 */
const [port, text = ""] = process.argv.slice(2);
const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(String(Buffer.concat(chunks)));
    response.writeHead(200, headers).end(text);
  });
}).listen(Number(port), "127.0.0.1");
