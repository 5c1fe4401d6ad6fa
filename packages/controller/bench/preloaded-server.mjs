import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/**
 * A program that plays an API server with many copies of settled objects, where nothing ever
 * changes: `preloaded-server.mjs FILE COUNT`. The file has the objects by plural. Prints its port.
 * Refuses writes.
 */
const [file = "", count = "0"] = process.argv.slice(2);
/** @type {Record<string, string>} */
const templates = Object.fromEntries(
  Object.entries(JSON.parse(readFileSync(file, "utf8"))).map(([plural, object]) => [
    plural,
    JSON.stringify(object),
  ]),
);
const uids = [...JSON.stringify(templates).matchAll(/\\"uid\\":\\"([^"\\]+)\\"/g)].map(
  ([, uid]) => uid ?? "",
);

/**
 * The copy with this number, with its own names and UIDs. @param {string} template @param {number}
 * n
 */
function copyOf(template, n) {
  let text = template.replaceAll("m-0", `m-${n}`);
  for (const uid of new Set(uids)) {
    text = text.replaceAll(uid, `${String(n).padStart(8, "0")}${uid.slice(8)}`);
  }
  return text;
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  response.setHeader("content-type", "application/json");
  if (request.method !== "GET") {
    response.writeHead(403).end('{"kind":"Status","reason":"Forbidden","code":403}');
    return;
  }
  if (url.searchParams.get("watch")) {
    response.writeHead(200).flushHeaders();
    return;
  }
  const template = templates[url.pathname.split("/").at(-1) ?? ""];
  const first = Number(url.searchParams.get("continue") ?? "0");
  const limit = Number(url.searchParams.get("limit") ?? "500");
  const end = template ? Math.min(first + limit, Number(count)) : 0;
  const items = [];
  for (let n = first; n < end; n++) items.push(copyOf(template ?? "", n));
  const next = template && end < Number(count) ? `,"continue":"${end}"` : "";
  response.end(`{"metadata":{"resourceVersion":"1000"${next}},"items":[${items.join(",")}]}`);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`${port}\n`);
});
