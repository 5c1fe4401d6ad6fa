/**
 * Plays an API server with one resource, in its own process: lists in pages, and watches on which it sends as many
 * changes as it is asked for, no faster than they are read.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { vmiLike } from "./vmi-like.mjs";

let count = 0;
let version = 1_000_000;
/** @type {Set<import("node:http").ServerResponse>} */
const watches = new Set();
/** Made before they are needed: what is measured is the other process. @type {string[][]} */
const made = [];
const stamp = "7".repeat(10);

/** @param {number} index */
function text(index) {
  made[index] ??= JSON.stringify(vmiLike(index, Number(stamp))).split(stamp);
  return made[index].join(String(++version));
}

/** @param {URL} url */
function page(url) {
  const from = Number(url.searchParams.get("continue") ?? 0);
  const limit = Number(url.searchParams.get("limit") ?? count) || count;
  const items = Array.from({ length: Math.min(limit, count - from) }, (_, i) => text(from + i));
  const next = from + limit < count ? `,"continue":"${from + limit}"` : "";
  return `{"kind":"VmiLikeList","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${next}},"items":[${items.join(",")}]}`;
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  response.writeHead(200, { "content-type": "application/json" });
  if (url.searchParams.get("watch") !== "true") {
    response.end(page(url));
    return;
  }
  response.flushHeaders();
  watches.add(response);
  response.once("close", () => watches.delete(response));
});

/** @param {number} changes */
async function send(changes) {
  const [response] = watches;
  if (!response) throw new Error("nobody watches");
  for (let sent = 0; sent < changes; ) {
    let lines = "";
    for (let part = 0; part < 20 && sent < changes; part++, sent++) {
      lines += `{"type":"MODIFIED","object":${text(sent % count)}}\n`;
    }
    if (!response.write(lines)) await once(response, "drain");
  }
}

process.on("message", async (/** @type {{ count?: number, send?: number }} */ asked) => {
  if (asked.count !== undefined) count = asked.count;
  for (let index = 0; index < count; index++) text(index);
  if (asked.send !== undefined) await send(asked.send);
  process.send?.({ watches: watches.size });
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : 0 });
});
// The process that asked is gone.
process.on("disconnect", () => process.exit());
