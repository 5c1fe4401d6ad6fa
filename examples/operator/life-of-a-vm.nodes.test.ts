import { attachCluster, createNamespace } from "@virtkit/lab/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningGuests, watchCopies } from "./testing/copies.ts";
import { nothingIsLeft, running, runningAgain } from "./testing/expectations.ts";
import { askGuest, type Guests, guestsIn, vmOf } from "./testing/guests.ts";
import {
  patience,
  type SharedOperator,
  sharedOperator,
  tellingWhy,
} from "./testing/installed-operator.ts";
import { nodeTraces } from "./testing/node-traces.ts";

const cluster = attachCluster();
let operator: SharedOperator;
let before: string[];

beforeAll(async () => {
  operator = await sharedOperator(cluster);
  before = await nodeTraces(cluster);
});

afterAll(() => operator?.close());

const uidOf = (guests: Guests, name: string): Promise<string> =>
  guests.field(`vmi/${name}`, ".metadata.uid");

const statusOf = (guests: Guests, name: string): Promise<string> =>
  guests.field(`vm/${name}`, ".status.printableStatus");

/** The processes without which a guest cannot go on, by a pattern of their command lines. */
const processes = {
  QEMU: (namespace: string, name: string) => `^/[^ ]*qemu-system.*guest=${namespace}_${name},`,
  launcher: (namespace: string, name: string) =>
    `[/]virtkit-launcher --name ${name} .*--namespace ${namespace} `,
};

/** Kills a process of a guest, as a kernel that is out of memory does. */
async function crash(
  process: keyof typeof processes,
  namespace: string,
  name: string,
): Promise<void> {
  const pattern = processes[process](namespace, name);
  const killed = cluster.nodes.map((node) =>
    cluster.runOnNode(node, "sh", ["-c", `pkill -c -KILL -f '${pattern}' || true`]),
  );
  const counts = (await Promise.all(killed)).map(Number);
  expect(
    counts.reduce((sum, each) => sum + each, 0),
    `the ${process} of ${name} was killed`,
  ).toBe(1);
}

test("a VM restarts, or does not, as its run strategy says: after its guest powers off, crashes, is deleted, or loses its Pod", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  await using copies = watchCopies(namespace.name);
  const names = ["always", "rerun", "manual"] as const;
  await tellingWhy(cluster, async () => {
    await guests.apply(
      vmOf("always"),
      vmOf("rerun", { runStrategy: "RerunOnFailure" }),
      vmOf("manual", { runStrategy: "Manual" }),
    );
    expect(await statusOf(guests, "manual")).toMatch(/^(Stopped)?$/);
    await expect.poll(() => statusOf(guests, "manual"), patience).toBe("Stopped");
    expect(await guests.verb("vm/manual", "start")).toBe(202);
    const addresses = await Promise.all(names.map((name) => running(guests, name)));
    let uids = await Promise.all(names.map((name) => uidOf(guests, name)));

    // The guest itself powers off: only the VM with the strategy Always is started again.
    await Promise.all(
      addresses.map((address) => askGuest(address, "(sleep 1; poweroff -f) >/dev/null 2>&1 &")),
    );
    await runningAgain(guests, "always", uids[0] ?? "");
    for (const name of ["rerun", "manual"]) {
      await expect.poll(() => statusOf(guests, name), patience).toBe("Stopped");
      expect(await guests.verb(`vm/${name}`, "start")).toBe(202);
    }
    await Promise.all(names.map((name) => running(guests, name)));
    uids = await Promise.all(names.map((name) => uidOf(guests, name)));

    // A crash, of QEMU or of the whole launcher: the VM that is started manually stays off.
    await crash("QEMU", namespace.name, "always");
    await crash("launcher", namespace.name, "rerun");
    await crash("QEMU", namespace.name, "manual");
    await runningAgain(guests, "always", uids[0] ?? "");
    await runningAgain(guests, "rerun", uids[1] ?? "");
    expect(await statusOf(guests, "manual")).toBe("Stopped");
    expect(runningGuests(namespace.name)).toEqual(["always", "rerun"]);
    uids = await Promise.all(names.map((name) => uidOf(guests, name)));

    // The VMI of one VM and the Pod of the other are deleted. The guest is asked to shut down, which is not a failure.
    await guests.kubectl("delete", "vmi", "always", "--wait=false");
    await guests.kubectl("delete", "pod", "-l", "guest=rerun", "--wait=false");
    await runningAgain(guests, "always", uids[0] ?? "");
    await expect.poll(() => guests.objects("vmi"), patience).not.toContain("vmi/rerun");

    // A VM with the strategy Always loses its Pod.
    const uid = await uidOf(guests, "always");
    await guests.kubectl("delete", "pod", "-l", "guest=always", "--wait=false");
    await runningAgain(guests, "always", uid);
    // If a VMI were to follow, the controller would say so: the status would be Starting.
    expect(await statusOf(guests, "rerun")).toBe("Stopped");
    expect(await guests.objects("vmi")).not.toContain("vmi/rerun");
    expect(runningGuests(namespace.name)).toEqual(["always"]);
    await nothingIsLeft(cluster, guests, before);
  });
  expect(copies.most).toBe(1);
});

test("a guest is ready when its probes succeed, and is restarted when its liveness probe fails", async () => {
  await using namespace = await createNamespace(cluster);
  const guests = guestsIn(cluster, namespace.name);
  await tellingWhy(cluster, async () => {
    const often = { periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5 };
    await guests.apply(
      vmOf("probed", {
        spec: {
          readinessProbe: { exec: { command: ["test", "-e", "/run/ready"] }, ...often },
          livenessProbe: {
            ...{ httpGet: { port: 80, path: "/" }, ...often },
            // While a guest boots, each attempt takes seconds to fail; later, a refused connection fails at once.
            ...{ initialDelaySeconds: 15, failureThreshold: 10 },
          },
        },
      }),
    );
    const address = await running(guests, "probed");
    const ready = (): Promise<string> =>
      guests.field("vmi/probed", '.status.conditions[?(@.type=="Ready")].status');
    expect(await ready()).toBe("False");
    await askGuest(address, "touch /run/ready");
    await expect.poll(ready, patience).toBe("True");
    await expect.poll(() => guests.field("vm/probed", ".status.ready"), patience).toBe("true");
    await askGuest(address, "rm /run/ready");
    await expect.poll(ready, patience).toBe("False");
    const uid = await uidOf(guests, "probed");
    await askGuest(address, "(sleep 1; killall httpd) >/dev/null 2>&1 &");
    await runningAgain(guests, "probed", uid);
    await nothingIsLeft(cluster, guests, before);
  });
});
