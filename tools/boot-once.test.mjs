import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bootOnce } from "./boot-once.mjs";

/** @typedef {Record<string, any>} KubeObject */

const guest = createServer((_, answer) => answer.end("boot_id=1\n"));
let port = 0;

beforeAll(async () => {
  await new Promise((resolve) => guest.listen(0, "127.0.0.1", () => resolve(undefined)));
  port = /** @type {import("node:net").AddressInfo} */ (guest.address()).port;
});

afterAll(() => guest.close());

const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };

/**
 * A cluster in which a VM reaches a state at once, and stops when it is asked to.
 * @param {{ printableStatus?: string, vmi?: KubeObject, port?: number, kind?: string, stop?: number, conditions?: KubeObject[] }} state
 */
function clusterWith({ kind = "VirtualMachine", stop = 202, ...state }) {
  const metadata = { namespace: "default", name: "web" };
  const interfaces = [{ ports: [{ port: state.port ?? port }] }];
  const spec = { template: { spec: { domain: { devices: { interfaces } } } } };
  /** @type {string[]} */
  const calls = [];
  let hasStopped = false;
  return {
    calls,
    kubeconfig: "/nowhere/admin.conf",
    async kubectl(/** @type {readonly string[]} */ [verb = ""]) {
      calls.push(verb);
      if (verb !== "get") return JSON.stringify({ kind, metadata, spec });
      const { printableStatus, conditions } = state;
      const status = { printableStatus: hasStopped ? "Stopped" : printableStatus, conditions };
      const vmi = { kind: "VirtualMachineInstance", ...state.vmi };
      const items = [{ kind, status }, ...(state.vmi && !hasStopped ? [vmi] : [])];
      return JSON.stringify({ items });
    },
    async request(/** @type {string} */ place) {
      calls.push(place.split("/").at(-1) ?? "");
      hasStopped = stop === 202;
      return { status: stop, body: { message: "no" } };
    },
  };
}

const running = {
  printableStatus: "Running",
  vmi: { status: { ...ready.status, phase: "Running", interfaces: [{ ipAddress: "127.0.0.1" }] } },
};

/** @param {ReturnType<typeof clusterWith>} cluster @param {Partial<import("./boot-once.mjs").BootOptions>} [options] */
async function boot(cluster, options) {
  /** @type {string[]} */
  const said = [];
  const timeline = async () => "the timeline";
  const told = (/** @type {string} */ line) => void said.push(line);
  const result = await bootOnce(cluster, {
    ...{ manifest: "", told, patience: 20, timeline },
    ...options,
  });
  return { result, said };
}

test("boots a VM, reaches it, stops it, deletes it, and returns the timeline", async () => {
  const cluster = clusterWith(running);
  const { result, said } = await boot(cluster);
  expect(result).toBe("the timeline");
  expect(said).toEqual([
    "VM default/web is ready, at 127.0.0.1",
    `the guest answers on port ${port}: boot_id=1`,
    "VM default/web has stopped",
  ]);
  expect(cluster.calls).toEqual(["apply", "get", "stop", "get", "delete"]);
});

test("a VM that does not become ready fails with its state and what its conditions say", async () => {
  const message = "0/2 nodes are available";
  const conditions = [
    { type: "Ready", status: "False", reason: "GuestNotRunning", message },
    { type: "LiveMigratable", status: "True" },
  ];
  await expect(
    boot(clusterWith({ printableStatus: "ErrorUnschedulable", conditions })),
  ).rejects.toThrow(
    "VM default/web is not ready after 0.02 s: the VM says ErrorUnschedulable; there is no VMI; " +
      "Ready=False (GuestNotRunning: 0/2 nodes are available)",
  );
});

test("a VM whose guest runs but is not ready has not started", async () => {
  const status = { ...running.vmi.status, conditions: [{ type: "Ready", status: "False" }] };
  await expect(boot(clusterWith({ ...running, vmi: { status } }))).rejects.toThrow(
    /is not ready .* the VM says Running; the VMI says Running$/,
  );
});

test("a guest that does not answer fails with its address and the error", async () => {
  await expect(boot(clusterWith({ ...running, port: 9 }))).rejects.toThrow(
    /does not answer after 0.02 s: http:\/\/127.0.0.1:9\/: /,
  );
});

test("fails if the VM cannot be stopped, or if it does not stop", async () => {
  await expect(boot(clusterWith({ ...running, stop: 403 }))).rejects.toThrow(
    'VM default/web could not be stopped: 403 {"message":"no"}',
  );
  const deaf = clusterWith(running);
  const request = async () => ({ status: 202, body: { message: "" } });
  await expect(boot({ ...deaf, request })).rejects.toThrow(
    "VM default/web has not stopped after 0.02 s: the VM says Running; the VMI says Running",
  );
});

test("fails if virtkit why fails, with its reason", async () => {
  await expect(boot(clusterWith(running), { timeline: undefined })).rejects.toThrow(
    /virtkit why web .* exited with [1-9]\d*: .*\/nowhere\/admin.conf/s,
  );
});

test("takes no other objects, and ends when it is interrupted", async () => {
  await expect(boot(clusterWith({ kind: "Pod" }))).rejects.toThrow("the manifest has a Pod");
  const signal = AbortSignal.abort(new Error("interrupted"));
  await expect(boot(clusterWith(running), { signal })).rejects.toThrow("interrupted");
});
