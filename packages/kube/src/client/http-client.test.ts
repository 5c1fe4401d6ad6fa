import { text } from "node:stream/consumers";
import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { answer, failure, localServer } from "../testing/local-server.ts";
import { HttpClient } from "./http-client.ts";
import { isNotFound, type KubeError } from "./kube-error.ts";
import type { KubeObject } from "./kube-object.ts";
import { defineResource } from "./resource.ts";

interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}
const pods = defineResource<Pod>({ version: "v1", plural: "pods", kind: "Pod" });
const nodes = defineResource({ version: "v1", plural: "nodes", kind: "Node", namespaced: false });
const demo = { namespace: "default", name: "demo" };
const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { ...demo, resourceVersion: "7" } };

/** What a promise was rejected with. */
async function failureOf(promise: Promise<unknown>): Promise<KubeError> {
  return await promise.then(
    () => expect.unreachable("it succeeded"),
    (error: KubeError) => error,
  );
}

test("each verb has its method, path, query and body", async () => {
  const seen: unknown[] = [];
  const { client } = await localServer(async (request, response) => {
    const body = await text(request);
    const type = request.headers["content-type"];
    seen.push([`${request.method} ${request.url}`, type, body && JSON.parse(body)]);
    answer(response, pod);
  });
  await client.get(pods, demo, { subresource: "status" });
  await client.create(pods, pod, { dryRun: true, fieldManager: "me" });
  await client.create(pods, pod, { subresource: "binding" });
  await client.update(pods, pod);
  await client.patch(pods, demo, { type: "json", operations: [{ op: "remove", path: "/a" }] });
  await client.patch(pods, demo, { type: "apply", body: {}, force: true }, { fieldManager: "me" });
  await client.patch(pods, demo, { type: "merge", body: { a: 1 } }, { subresource: "status" });
  await client.delete(pods, demo, { preconditions: { uid: "u" }, dryRun: true });
  await client.get(nodes, { name: "n1" });
  await client.request({ path: "/readyz?verbose", method: "POST", body: { a: 1 } });
  const json = "application/json";
  const path = "/api/v1/namespaces/default/pods";
  expect(seen).toEqual([
    [`GET ${path}/demo/status`, undefined, ""],
    [`POST ${path}?fieldManager=me&dryRun=All`, json, pod],
    [`POST ${path}/demo/binding`, json, pod],
    [`PUT ${path}/demo`, json, pod],
    [`PATCH ${path}/demo`, "application/json-patch+json", [{ op: "remove", path: "/a" }]],
    [`PATCH ${path}/demo?force=true&fieldManager=me`, "application/apply-patch+yaml", {}],
    [`PATCH ${path}/demo/status`, "application/merge-patch+json", { a: 1 }],
    [
      `DELETE ${path}/demo`,
      json,
      {
        apiVersion: "meta.k8s.io/v1",
        kind: "DeleteOptions",
        preconditions: { uid: "u" },
        dryRun: ["All"],
      },
    ],
    ["GET /api/v1/nodes/n1", undefined, ""],
    ["POST /readyz?verbose", json, { a: 1 }],
  ]);
});

test("texts are encoded as Go encodes them, because a server compares those that a patch tests byte by byte", async () => {
  const bodies: string[] = [];
  const { client } = await localServer(async (request, response) => {
    bodies.push(await text(request));
    answer(response, pod);
  });
  const operations = [{ op: "test", path: "/a", value: "1->2 & <3>" }] as const;
  await client.patch(pods, demo, { type: "json", operations });
  const value = String.raw`"1-\u003e2 \u0026 \u003c3\u003e"`;
  expect(bodies).toEqual([`[{"op":"test","path":"/a","value":${value}}]`]);
});

test("a written object carries its kind, except for subresources of another kind", async () => {
  const kinds: unknown[] = [];
  const { client } = await localServer(async (request, response) => {
    kinds.push(JSON.parse(await text(request)).kind);
    answer(response, pod);
  });
  const bare = { metadata: demo };
  await client.create(pods, bare);
  await client.update(pods, bare);
  await client.update(pods, bare, { subresource: "status" });
  await client.create(pods, bare, { subresource: "binding" });
  await client.update(pods, bare, { subresource: "scale" });
  expect(kinds).toEqual(["Pod", "Pod", "Pod", undefined, undefined]);
});

test("list items carry their kind", async () => {
  const { client, requests } = await localServer((_request, response) =>
    answer(response, {
      metadata: { resourceVersion: "9", continue: "more" },
      items: [{ metadata: { name: "a" } }],
    }),
  );
  const options = { namespace: "x", labelSelector: "a=b,c", limit: 2 };
  const { items, metadata } = await client.list(pods, options);
  expect(items).toEqual([{ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }]);
  expect(metadata).toEqual({ resourceVersion: "9", continue: "more" });
  expect(requests).toEqual(["GET /api/v1/namespaces/x/pods?labelSelector=a%3Db%2Cc&limit=2"]);
});

test("a failure carries status, reason, causes and retry-after", async () => {
  const causes = [{ reason: "FieldValueInvalid", message: "bad", field: "spec.x" }];
  const { client } = await localServer((_request, response) =>
    answer(response, failure(422, "Invalid", { causes, retryAfterSeconds: 3 }), 422),
  );
  expect(await failureOf(client.get(pods, demo))).toMatchObject({
    code: "KUBE_STATUS",
    status: 422,
    reason: "Invalid",
    causes,
    retryAfterSeconds: 3,
    path: "GET /api/v1/namespaces/default/pods/demo",
    message: "GET /api/v1/namespaces/default/pods/demo: 422 Invalid: it is Invalid",
  });
});

test("a 404 that does not come from Kubernetes says nothing about the object", async () => {
  const { client } = await localServer((_request, response) =>
    answer(response, "404 page not found", 404),
  );
  const error = await failureOf(client.get(pods, demo));
  expect(error.message).toContain("404 without a Kubernetes Status: 404 page not found");
  expect(isNotFound(error)).toBe(false);
});

test("429, and overload with a Retry-After, are retried after the time the server asked for", async () => {
  const clock = new ManualClock();
  const answers = [
    { status: 429, headers: { "retry-after": "2" } },
    { status: 503, headers: { "retry-after": "5" } },
    { status: 429, headers: {} },
  ];
  const { client, requests } = await localServer(
    (_request, response) => {
      const next = answers.shift();
      if (!next) return answer(response, pod);
      answer(response, failure(next.status, "TooManyRequests"), next.status, next.headers as never);
    },
    { clock },
  );
  const got = client.get(pods, demo);
  for (const [count, delay] of [
    [1, 2_000],
    [2, 5_000],
    [3, 1_000],
  ] as const) {
    await expect.poll(() => requests.length).toBe(count);
    await expect.poll(() => clock.pending).toBe(2);
    await clock.pass(delay - 1);
    expect(requests).toHaveLength(count);
    await clock.pass(1);
  }
  await expect(got).resolves.toEqual(pod);
  expect(clock.pending).toBe(0);
});

test.each([
  [500, {}],
  [503, {}],
  [409, { "retry-after": "1" }],
  [404, { "retry-after": "1" }],
  [307, { location: "/elsewhere" }],
] as [number, Record<string, string>][])("a %i is not retried", async (status, headers) => {
  const { client, requests } = await localServer((_request, response) =>
    answer(response, failure(status, "Some"), status, headers),
  );
  expect(await failureOf(client.get(pods, demo))).toMatchObject({ code: "KUBE_STATUS", status });
  expect(requests).toHaveLength(1);
});

test("an eviction forbidden by a budget is not retried", async () => {
  const details = { causes: [{ reason: "DisruptionBudget" }] };
  const { client, requests } = await localServer((_request, response) =>
    answer(response, failure(429, "TooManyRequests", details), 429, { "retry-after": "0" }),
  );
  const eviction = client.create(pods, pod, { subresource: "eviction" });
  expect(await failureOf(eviction)).toMatchObject({ status: 429 });
  expect(requests).toHaveLength(1);
});

test("a list at a version the server no longer has is not retried, so that the caller lists again", async () => {
  const details = { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 };
  const { client, requests } = await localServer((_request, response) =>
    answer(response, failure(504, "Timeout", details), 504, { "retry-after": "1" }),
  );
  expect(await failureOf(client.list(pods))).toMatchObject({ status: 504, reason: "Timeout" });
  expect(requests).toHaveLength(1);
});

test("retries end after ten attempts or when the request's time is up", async () => {
  const { client, requests } = await localServer((request, response) =>
    answer(response, failure(429, "TooManyRequests"), 429, {
      "retry-after": request.url?.includes("patient") ? "0" : "61",
    }),
  );
  expect(await failureOf(client.get(pods, { ...demo, name: "patient" }))).toMatchObject({
    status: 429,
  });
  expect(requests).toHaveLength(11);
  expect(await failureOf(client.get(pods, demo))).toMatchObject({ retryAfterSeconds: 61 });
  expect(requests).toHaveLength(12);
});

test("a request without an answer times out by the clock it was given", async () => {
  const clock = new ManualClock();
  const { client, requests } = await localServer(() => {}, { clock, timeout: 5_000 });
  const failed = failureOf(client.get(pods, demo));
  const sooner = failureOf(client.get(pods, demo, { timeout: 1_000 }));
  await expect.poll(() => requests.length).toBe(2);
  await clock.pass(4_999);
  expect(await sooner).toMatchObject({ code: "KUBE_TIMEOUT" });
  await clock.pass(1);
  const error = await failed;
  expect(error).toMatchObject({ code: "KUBE_TIMEOUT" });
  expect(error.message).toContain("no answer within 5000 ms");
});

test("an answer that stops half-way times out as well", async () => {
  const clock = new ManualClock();
  const { client, requests } = await localServer(
    (_request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("{");
    },
    { clock },
  );
  const failed = failureOf(client.get(pods, demo));
  await expect.poll(() => requests.length).toBe(1);
  await clock.pass(60_000);
  expect(await failed).toMatchObject({ code: "KUBE_TIMEOUT" });
});

test("credentials that never arrive are a KUBE_TIMEOUT as well", async () => {
  const clock = new ManualClock();
  const credentials = () => new Promise<never>(() => {});
  const client = new HttpClient({ server: "http://127.0.0.1:1", credentials }, { clock });
  const failed = failureOf(client.get(pods, demo));
  await clock.pass(60_000);
  expect(await failed).toMatchObject({ code: "KUBE_TIMEOUT" });
});

test("the signal ends a request", async () => {
  const stop = new AbortController();
  const { client, requests } = await localServer(() => {});
  const failed = failureOf(client.get(pods, demo, { signal: stop.signal }));
  await expect.poll(() => requests.length).toBe(1);
  stop.abort(new Error("enough"));
  expect(await failed).toMatchObject({ code: "KUBE_ABORTED", cause: { message: "enough" } });
  const late = client.get(pods, demo, { signal: stop.signal });
  expect(await failureOf(late)).toMatchObject({ code: "KUBE_ABORTED" });
});

test("an unreachable server is a KUBE_CONNECTION error with its cause", async () => {
  const server = "http://127.0.0.1:1";
  const client = new HttpClient({ server, credentials: async () => ({}) });
  expect(await failureOf(client.get(pods, demo))).toMatchObject({
    code: "KUBE_CONNECTION",
    cause: { code: "ECONNREFUSED" },
  });
});

test("connections are kept between requests", async () => {
  const { client, connections } = await localServer((_request, response) => answer(response, pod));
  for (let count = 0; count < 5; count++) await client.get(pods, demo);
  expect(connections()).toBe(1);
});

test("rejects HTML and JSON of another shape, and says what it found", async () => {
  const { client } = await localServer((request, response) => {
    const isHtml = request.url?.endsWith("html");
    answer(response, isHtml ? "<html><body>Log in</body></html>" : '{"secret":"x"}');
  });
  const html = await failureOf(client.get(pods, { ...demo, name: "html" }));
  expect(html).toMatchObject({ code: "KUBE_ANSWER_INVALID" });
  expect(html.message).toContain('begins with "<html>');
  const odd = await failureOf(client.list(pods));
  expect(odd).toMatchObject({ code: "KUBE_ANSWER_INVALID" });
  expect(odd.message).not.toContain("secret");
});

test("the size of an answer is limited", async () => {
  const { client } = await localServer(
    (_request, response) => answer(response, "x".repeat(2_000)),
    {
      maxAnswerBytes: 1_000,
    },
  );
  const error = await failureOf(client.get(pods, demo));
  expect(error.message).toContain("longer than 1000 bytes");
});

test.each([
  ["a name with a slash", () => ({ namespace: "a", name: "b/c" })],
  ["a name of dots", () => ({ namespace: "..", name: "b" })],
  ["no name", () => ({ namespace: "a", name: "" })],
  ["no namespace", () => ({ name: "b" })],
])("%s never leaves the process", async (_what, name) => {
  const { client, requests } = await localServer(() => {});
  expect(await failureOf(client.get(pods, name()))).toMatchObject({ code: "KUBE_INPUT_INVALID" });
  expect(requests).toEqual([]);
});
