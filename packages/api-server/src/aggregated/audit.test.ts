import { until } from "@virtkit/api/clock";
import { type Log, type Metrics, silentLog } from "@virtkit/api/observe";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StartedServer } from "../testing/started-server.ts";
import { seedRunningVm } from "../testing/vm-objects.ts";

const lines: Readonly<Record<string, unknown>>[] = [];
const counted: Readonly<Record<string, unknown>>[] = [];
let observed = 0;
const keep = (details: unknown, message?: unknown): void => {
  if (typeof details === "object") lines.push({ ...details, message });
};
const log: Log = { ...silentLog, info: keep, warn: keep };
const metrics: Metrics = {
  count: (name, labels) => void counted.push({ name, ...labels }),
  observe: () => {
    observed += 1;
  },
};

let started: StartedServer;
beforeAll(async () => {
  started = await StartedServer.start({ log, metrics });
  seedRunningVm(started.cluster);
});
afterAll(() => started[Symbol.asyncDispose]());
beforeEach(() => {
  started.access.allow = { allowed: true };
  started.node.answer = undefined;
  lines.length = 0;
  counted.length = 0;
  observed = 0;
});

const asked = () => lines.filter(({ message }) => message === "asked");
const requests = () => counted.filter(({ name }) => name === "api_server_requests");
const who = {
  user: "alice",
  resource: "virtualmachineinstances",
  namespace: "default",
  name: "vm",
};

test("the log says who asked for what of which VMI, and the result, but not the body", async () => {
  const freeze = started.path("virtualmachineinstances/vm/freeze");
  const body = JSON.stringify({ unfreezeTimeout: "1m", note: "sesame" });
  expect((await started.ask("PUT", freeze, { body })).code).toBe(200);
  expect(asked()).toMatchObject([{ ...who, verb: "update", subresource: "freeze", code: 200 }]);
  expect(JSON.stringify(lines)).not.toContain("sesame");
  expect(requests()).toEqual([{ name: "api_server_requests", subresource: "freeze", code: "200" }]);
  expect(observed).toBe(1);
});

test("rejections by this server and by the node are logged with their code", async () => {
  const pause = started.path("virtualmachineinstances/vm/pause");
  started.access.allow = { allowed: false };
  await started.ask("PUT", pause);
  started.access.allow = { allowed: true };
  started.node.answer = { code: 409, body: "it is paused" };
  await started.ask("PUT", pause);
  expect(asked()).toMatchObject([
    { ...who, subresource: "pause", code: 403 },
    { ...who, subresource: "pause", code: 409 },
  ]);
});

test("a stream is logged once, when it ends", async () => {
  const socket = await started.stream("virtualmachineinstances/vm/console");
  if (typeof socket === "number") throw new Error(`refused with ${socket}`);
  expect(asked()).toEqual([]);
  socket.close();
  await until(() => asked().length > 0, { interval: 5, timeout: 30_000 });
  expect(asked()).toMatchObject([{ ...who, verb: "get", subresource: "console", code: 101 }]);
});

test("unknown paths do not create metric labels", async () => {
  for (const rest of ["virtualmachineinstances/vm/x1", "virtualmachineinstances/vm/x2", "x3"]) {
    await started.ask("GET", started.path(rest));
  }
  expect(new Set(requests().map(({ subresource }) => subresource))).toEqual(
    new Set(["unknown", "none"]),
  );
});

test("reviews are counted by their decision", async () => {
  const review = {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u",
      operation: "UPDATE",
      subResource: "status",
      resource: { group: "kubevirt.io", version: "v1", resource: "virtualmachines" },
      userInfo: { username: "alice" },
    },
  };
  const body = JSON.stringify(review);
  await started.ask("POST", "/virtualmachines-validate", { body, headers: {}, certificate: null });
  expect(counted).toEqual([{ name: "api_server_reviews", mode: "validate", allowed: "false" }]);
  expect(observed).toBe(1);
});
