import type { KubeObject } from "@virtkit/kube";
import { createTestCluster, type TestCluster } from "@virtkit/testing/cluster";
import type { GuestScript } from "@virtkit/testing/hypervisor";
import { expect, onTestFinished, test } from "vitest";
import { claimResource } from "../plan/resources.ts";
import { nodePart } from "../service/node-part.ts";
import { vmPart } from "../service/vm-part.ts";
import { vmiPart } from "../service/vmi-part.ts";
import { countedReads } from "../testing/counted-reads.ts";
import { controllerActor, resources, VmUser, vmClusterOptions } from "../testing/vm-cluster.ts";

type Part = "vm" | "vmi";

/** A cluster in which the controllers of VMs, of VMIs and of nodes write under their own names. */
async function start(
  script: GuestScript = { shutdown: 500, agent: undefined },
): Promise<{ cluster: TestCluster; user: VmUser; reads: Readonly<Record<Part, string[]>> }> {
  const reads = { vm: [], vmi: [] };
  const guests = { script: () => script };
  const cluster = await createTestCluster(vmClusterOptions({ guests }));
  const stop = new AbortController();
  const { clock, random } = cluster;
  const actor = (name: Part, parts: Parameters<typeof controllerActor>[0]) =>
    controllerActor(parts)({
      ...{ client: countedReads(cluster.client(name), reads[name]), clock, random },
      signal: stop.signal,
      wall: () => cluster.server.date(),
    });
  const running = [actor("vm", [vmPart]), actor("vmi", [vmiPart, nodePart])];
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(running);
    await cluster[Symbol.asyncDispose]();
  });
  await clock.pass(5_000);
  return { cluster, user: new VmUser(cluster), reads };
}

function calls(cluster: TestCluster, actor: string): readonly string[] {
  return cluster
    .writes(actor)
    .filter(({ resource }) => resource !== "nodes")
    .map(({ verb, resource, subresource, status }) => {
      const place = subresource ? `${resource}/${subresource}` : resource;
      return `${verb} ${place}${status < 300 ? "" : ` ${status}`}`;
    });
}

test("the life of a VM costs 6 writes and 2 events beyond those of its VMI, none of them in vain", async () => {
  const { cluster, user, reads } = await start();
  // Of the nodes that the cluster begins with.
  const early = calls(cluster, "vmi").length;
  await user.create("Always");
  await cluster.clock.pass(60_000);
  expect((await user.vm())?.status).toMatchObject({ printableStatus: "Running", ready: true });
  // What the webhook adds (version, finalizer, firmware UUID) needs no write. A guest with an agent
  // costs one more status write, when the agent is connected.
  expect(calls(cluster, "vm")).toEqual([
    // The spec at the start: later changes are compared with it.
    "create controllerrevisions",
    // With its finalizers, version and a free grant.
    "create virtualmachineinstances",
    "create events",
    // It exists and starts; the VM remembers it before one of its Pods is granted.
    "patch virtualmachines/status",
    // It runs and is ready; the VM remembers its holder.
    "patch virtualmachines/status",
  ]);
  const look = ["get virtualmachines", "get virtualmachineinstances"];
  // The VM before its VMI is created, and before the VMI is remembered: a cache may show one that is gone and forgotten.
  expect(reads.vm.splice(0)).toEqual([...look, ...look]);
  expect(reads.vmi.splice(0)).toHaveLength(3);
  const started = calls(cluster, "vm").length;
  await user.remove();
  await cluster.clock.pass(60_000);
  expect(calls(cluster, "vm").slice(started)).toEqual([
    "delete virtualmachineinstances",
    "create events",
    // The grant has ended, so the VM may go: its finalizer. The one on the VMI goes with the VMI's
    // own.
    "patch virtualmachines",
  ]);
  // Each of the three looks before a Pod or a VMI is released asks the VM what it remembers.
  expect(reads.vm).toEqual([]);
  expect(reads.vmi.toSorted()).toEqual([
    ...["get nodes", "get nodes"],
    ...Array.from({ length: 3 }, () => "get virtualmachineinstances"),
    ...Array.from({ length: 3 }, () => "get virtualmachines"),
    ...Array.from({ length: 3 }, () => "list pods"),
  ]);
  // With its VMI, whose list is in vmi-life.test.ts. KubeVirt needs 29.0 writes, 3.8 of them in
  // vain, and 4.7 events.
  const all = [...calls(cluster, "vm"), ...calls(cluster, "vmi").slice(early)];
  expect(all.filter((call) => /\d$/.test(call))).toEqual([]);
  expect(all).toHaveLength(17);
  for (const resource of [resources.vms, resources.vmis, resources.pods, resources.revisions]) {
    expect(await user.all(resource)).toEqual([]);
  }
});

test("a guest that shuts itself down is started again with 9 calls, none of them in vain", async () => {
  const { cluster, user } = await start();
  await user.create("Always");
  await cluster.clock.pass(60_000);
  const before = await user.vmi();
  const started = calls(cluster, "vm").length;
  cluster.guest("default/vm").happen({ kind: "power-off" });
  await cluster.clock.pass(60_000);
  expect((await user.vm())?.status).toMatchObject({ printableStatus: "Running", ready: true });
  expect((await user.vmi())?.metadata?.uid).not.toBe(before?.metadata?.uid);
  expect(calls(cluster, "vm").slice(started)).toEqual([
    "delete virtualmachineinstances",
    // It has ended, which is proven: the VM forgets it, and lets it go.
    "patch virtualmachines/status",
    "patch virtualmachineinstances",
    "create events",
    // It is not ready any more.
    "patch virtualmachines/status",
    "create virtualmachineinstances",
    "patch events",
    // As after the first start.
    "patch virtualmachines/status",
    "patch virtualmachines/status",
  ]);
});

test("an unchanged VM costs nothing, even when its controller restarts", async () => {
  const { cluster, user } = await start();
  await user.create("Always");
  await cluster.clock.pass(60_000);
  const before = cluster.writes("vm").length;
  const again = new AbortController();
  const { clock, random } = cluster;
  const client = cluster.client("vm");
  const wall = () => cluster.server.date();
  const running = controllerActor([vmPart])({ client, clock, random, wall, signal: again.signal });
  await clock.pass(600_000);
  again.abort();
  await running;
  expect(cluster.writes("vm")).toHaveLength(before);
});

test("a guest that takes its time to shut down is shown as terminating, a fast one is not", async () => {
  for (const [shutdown, shown] of [
    [20_000, "Terminating"],
    [100, undefined],
  ] as const) {
    const { cluster, user } = await start({ shutdown });
    await user.create("Always");
    await cluster.clock.pass(60_000);
    await user.remove();
    await cluster.clock.pass(10_000);
    expect((await user.vm())?.status?.printableStatus).toBe(shown);
  }
});

test("a VM that is deleted in the foreground goes once its guest and everything of its own is gone", async () => {
  const { cluster, user } = await start();
  await user.create("Always");
  await cluster.clock.pass(60_000);
  const { uid } = (await user.vm())?.metadata ?? {};
  const reference = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name: "vm", uid };
  const ownerReferences = [{ ...reference, controller: true, blockOwnerDeletion: true }];
  const disk = { namespace: "default", name: "disk", ownerReferences, finalizers: ["test/used"] };
  await user.client.create(claimResource, { metadata: disk } as KubeObject);
  const name = { namespace: "default", name: "vm" };
  await user.client.delete(resources.vms, name, { propagationPolicy: "Foreground" });
  await cluster.clock.pass(60_000);
  expect(await user.vmi()).toBeUndefined();
  expect((await user.vm())?.metadata?.uid).toBe(uid);
  await user.patch({ metadata: { finalizers: null } }, claimResource, "disk");
  await cluster.clock.pass(60_000);
  for (const resource of [resources.vms, resources.pods, claimResource]) {
    expect(await user.all(resource)).toEqual([]);
  }
});

test("a VM that is deleted without its guest leaves it running, for the next VM of its name or until somebody deletes the VMI", async () => {
  const { cluster, user } = await start();
  const orphan = async (): Promise<void> => {
    const name = { namespace: "default", name: "vm" };
    await user.client.delete(resources.vms, name, { propagationPolicy: "Orphan" });
    await cluster.clock.pass(60_000);
    expect([await user.vm(), cluster.launchers().length]).toEqual([undefined, 1]);
  };
  await user.create("Always");
  await cluster.clock.pass(60_000);
  const before = await user.vmi();
  await orphan();
  expect((await user.vmi())?.metadata?.ownerReferences ?? []).toEqual([]);

  await user.create("Always");
  await cluster.clock.pass(60_000);
  const { metadata, status } = (await user.vm()) ?? {};
  expect(status).toMatchObject({ printableStatus: "Running", ready: true });
  expect((await user.vmi())?.metadata).toMatchObject({
    uid: before?.metadata?.uid,
    ownerReferences: [{ uid: metadata?.uid, controller: true }],
  });
  // It is remembered as one that this VM has started.
  expect(JSON.stringify(status?.conditions)).toContain(before?.metadata?.uid);

  await orphan();
  await user.remove(resources.vmis);
  await cluster.clock.pass(60_000);
  expect([await user.vmi(), await user.all(resources.pods)]).toEqual([undefined, []]);
  expect(cluster.launchers()).toEqual([]);
});
