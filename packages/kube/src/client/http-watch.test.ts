import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { answer, failure, localServer } from "../testing/local-server.ts";
import type { HttpClient } from "./http-client.ts";
import type { KubeError } from "./kube-error.ts";
import { defineResource } from "./resource.ts";

const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

function line(type: string, name: string, more: object = {}): string {
  const object = { metadata: { name, resourceVersion: "1" }, ...more };
  return `${JSON.stringify({ type, object })}\n`;
}

/** What a watch told until it ended, and how that was. */
async function watched(client: HttpClient): Promise<{ names: string[]; end?: KubeError }> {
  const names: string[] = [];
  try {
    for await (const { type, object } of client.watch(pods)) {
      names.push(`${type} ${object.metadata.name}`);
    }
    return { names };
  } catch (error) {
    return { names, end: error as KubeError };
  }
}

test("a watch reports each line, however the bytes are split into chunks", async () => {
  const bytes = Buffer.from(line("ADDED", "a", { text: "é€😀" }) + line("MODIFIED", "b"));
  const seen: unknown[] = [];
  const { client, requests } = await localServer(async (_request, response) => {
    response.writeHead(200);
    for (const byte of bytes) {
      response.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    response.end("\n");
  });
  const options = { resourceVersion: "5", allowBookmarks: true, sendInitialEvents: true };
  for await (const event of client.watch(pods, options)) seen.push(event);
  expect(seen).toMatchObject([
    { type: "ADDED", object: { text: "é€😀" } },
    { type: "MODIFIED", object: { metadata: { name: "b" } } },
  ]);
  expect(requests).toEqual([
    "GET /api/v1/pods?watch=true&resourceVersion=5&allowBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  ]);
});

test("says when the server has accepted a watch, although nothing is reported, and not when it has refused it", async () => {
  let opened = 0;
  const onOpen = (): void => void opened++;
  const { client, requests } = await localServer((_request, response) => {
    response.writeHead(200).flushHeaders();
  });
  const end = new AbortController();
  const watching = (async () => {
    for await (const event of client.watch(pods, { onOpen, signal: end.signal })) void event;
  })().catch(() => undefined);
  await expect.poll(() => opened).toBe(1);
  end.abort();
  await watching;
  expect(requests).toEqual(["GET /api/v1/pods?watch=true"]);
  const refusing = await localServer((_request, response) => {
    response.writeHead(403).end("{}");
  });
  await expect(
    refusing.client.watch(pods, { onOpen })[Symbol.asyncIterator]().next(),
  ).rejects.toThrow();
  expect(opened).toBe(1);
});

test("accepts an object of 2 MiB, and rejects one over the limit before buffering it", async () => {
  const large = line("ADDED", "large", { data: "x".repeat(2 * 2 ** 20) });
  const { client } = await localServer((_request, response) => response.end(large));
  expect(await watched(client)).toEqual({ names: ["ADDED large"] });
  const small = await localServer((_request, response) => response.end(large), {
    maxLineBytes: 2 ** 20,
  });
  const { names, end } = await watched(small.client);
  expect(names).toEqual([]);
  expect(end).toMatchObject({ code: "KUBE_ANSWER_INVALID" });
  expect(end?.message).toContain("longer than 1048576 bytes");
});

test.each([
  ["a line that is not JSON", "{oops}\n", "KUBE_ANSWER_INVALID"],
  ["HTML", "<html></html>\n", "KUBE_ANSWER_INVALID"],
  ["an event of an unknown type", line("RENAMED", "b"), "KUBE_ANSWER_INVALID"],
  [
    "an object without a name",
    '{"type":"ADDED","object":{"metadata":{}}}\n',
    "KUBE_ANSWER_INVALID",
  ],
  ["null", "null\n", "KUBE_ANSWER_INVALID"],
  ["an end in the middle of a line", '{"type":"ADDED","obj', "KUBE_CONNECTION"],
])("reports everything that came before %s, and then fails with it", async (_what, text, code) => {
  const { client } = await localServer((_request, response) =>
    response.end(line("ADDED", "a") + text),
  );
  const { names, end } = await watched(client);
  expect(names).toEqual(["ADDED a"]);
  expect(end).toMatchObject({ code });
});

test("a broken connection is a KUBE_CONNECTION error", async () => {
  const { client } = await localServer((_request, response) => {
    response.write(line("ADDED", "a"), () => setImmediate(() => response.destroy()));
  });
  const { names, end } = await watched(client);
  expect(names).toEqual(["ADDED a"]);
  expect(end).toMatchObject({ code: "KUBE_CONNECTION" });
});

test("an ERROR event and a rejection are thrown as typed errors", async () => {
  const expired = failure(410, "Expired");
  const { client } = await localServer((_request, response) =>
    response.end(`${JSON.stringify({ type: "ERROR", object: expired })}\n`),
  );
  expect((await watched(client)).end).toMatchObject({ status: 410, reason: "Expired" });
  const refusing = await localServer((_request, response) =>
    answer(response, failure(403, "Forbidden"), 403),
  );
  expect((await watched(refusing.client)).end).toMatchObject({ status: 403 });
});

test("a watch must start in time, and may then last for any time", async () => {
  const clock = new ManualClock();
  let isDumb = true;
  const { client, requests } = await localServer(
    (_request, response) => {
      if (isDumb) return;
      response.writeHead(200).write(line("ADDED", "a"));
    },
    { clock, timeout: 1_000 },
  );
  const late = watched(client);
  await expect.poll(() => requests.length).toBe(1);
  await clock.pass(1_000);
  expect((await late).end).toMatchObject({ code: "KUBE_TIMEOUT" });
  isDumb = false;
  const stop = new AbortController();
  const events = client.watch(pods, { signal: stop.signal })[Symbol.asyncIterator]();
  await events.next();
  await clock.pass(3_600_000);
  const next = events.next();
  stop.abort();
  await expect(next).rejects.toMatchObject({ code: "KUBE_ABORTED" });
});

test("a consumer that stops reading slows the server down, and one that leaves closes the connection", async () => {
  const text = line("ADDED", "a", { data: "x".repeat(64 * 1024) });
  let sent = 0;
  let isClosed = false;
  const { client } = await localServer((_request, response) => {
    response.once("close", () => {
      isClosed = true;
    });
    const more = (): void => {
      while (sent < 2_000 && !response.destroyed) {
        sent++;
        if (!response.write(text)) {
          response.once("drain", more);
          return;
        }
      }
    };
    more();
  });
  const events = client.watch(pods)[Symbol.asyncIterator]();
  await events.next();
  // Until the buffers of both sides and of the kernel are full.
  let before = -1;
  await expect
    .poll(
      () => {
        const isSteady = sent === before;
        before = sent;
        return isSteady;
      },
      { interval: 200 },
    )
    .toBe(true);
  expect(sent).toBeLessThan(1_000);
  await events.return?.(undefined);
  await expect.poll(() => isClosed).toBe(true);
});
