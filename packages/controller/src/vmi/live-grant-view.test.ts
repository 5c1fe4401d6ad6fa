import {
  encodeGrant,
  encodeMemory,
  freeGrant,
  grantAnnotation,
  runMemoryCondition,
} from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import {
  KubeError,
  type KubeObject,
  type ListOptions,
  type ObjectName,
  type Resource,
} from "@virtkit/kube";
import { expect, test } from "vitest";
import { liveGrantView } from "./live-grant-view.ts";
import { RunGrant } from "./run-grant.ts";
import { samplePod, sampleVmi } from "./testing/sample-view.ts";

const names = namesOf();
const name = { namespace: "ns", name: "vm" };
const missing = new KubeError("KUBE_STATUS", "no", { status: 404, reason: "NotFound" });

function client(objects: Readonly<Record<string, object>>, pages: readonly (readonly object[])[]) {
  const asked: string[] = [];
  const get = async ({ plural }: Resource, { name: wanted }: ObjectName): Promise<never> => {
    asked.push(`${plural}/${wanted}`);
    const found = objects[`${plural}/${wanted}`];
    if (found instanceof Error) throw found;
    if (!found) throw missing;
    return found as never;
  };
  const list = async (_: Resource, { labelSelector, continue: from }: ListOptions = {}) => {
    asked.push(`list ${labelSelector}`);
    const page = Number(from ?? 0);
    const items = (pages[page] ?? []) as readonly KubeObject[];
    const next = page + 1 < pages.length ? { continue: `${page + 1}` } : {};
    return { items, metadata: { resourceVersion: "1", ...next } } as never;
  };
  return { asked, get, list };
}

const holder = {
  podUID: "p",
  containerID: "c",
  node: "n2",
  machineID: "m",
  bootID: "b",
  nonce: "x",
};

test("reads the VMI, every page of Pods of its name, and all nodes that count", async () => {
  const vmi = sampleVmi({ phase: "Running" });
  const grant = encodeGrant({ state: "Claimed", vmiUID: "vmi-uid", epoch: 1, seq: 2, holder });
  const annotations = { [names.own(grantAnnotation)]: grant };
  const claimed = { ...vmi, metadata: { ...vmi.metadata, annotations } };
  const stranger = samplePod({ name: "stranger", ownerReferences: [] });
  const api = client(
    { "virtualmachineinstances/vm": claimed, "nodes/n1": { metadata: { name: "n1" } } },
    [[samplePod(), stranger], [samplePod({ name: "older", uid: "older-uid" })]],
  );
  const view = await liveGrantView(api, name, { names });
  expect(view.vmi).toBe(claimed);
  expect(view.grant.isLive).toBe(true);
  expect(view.grant.pods.map(({ metadata }) => metadata?.name)).toEqual(["launcher", "older"]);
  // The holder's node is gone. That proves nothing, and there is nothing to read about it.
  expect(view.grant.nodes).toEqual([{ metadata: { name: "n1" } }]);
  expect(api.asked).toContain("nodes/n2");
  expect(api.asked).toContain(`list ${names.labels.vmiId}=vm`);
});

test("a Pod that has lost its label is found through the cache, if it still exists", async () => {
  const found = async (pods: Readonly<Record<string, object>>): Promise<readonly unknown[]> => {
    const api = client({ [vmiRead]: freeVmi({}), ...pods }, [[samplePod()]]);
    const ofAnother = [{ kind: "VirtualMachineInstance", name: "vm", uid: "x", controller: true }];
    const stripped = samplePod({
      name: "stripped",
      uid: "stripped-uid",
      ownerReferences: ofAnother as never,
    });
    const cachedPods = [samplePod(), stripped];
    const { grant } = await liveGrantView(api, name, { names, cachedPods });
    expect(api.asked.filter((each) => each.startsWith("pods/"))).toEqual(["pods/stripped"]);
    return grant.pods.map(({ metadata }) => metadata?.uid);
  };
  expect(await found({})).toEqual(["pod-uid"]);
  const left = samplePod({ name: "stripped", uid: "stripped-uid" });
  expect(await found({ "pods/stripped": left })).toEqual(["pod-uid", "stripped-uid"]);
  const foreign = samplePod({ name: "stripped", uid: "other", ownerReferences: [] });
  expect(await found({ "pods/stripped": foreign })).toEqual(["pod-uid"]);
});

test("distinguishes a missing VMI from one that cannot be read", async () => {
  const gone = await liveGrantView(client({}, [[]]), name, { names });
  expect(gone.vmi).toBeUndefined();
  const silent = new KubeError("KUBE_TIMEOUT", "no answer");
  const broken = client({ "virtualmachineinstances/vm": silent }, [[]]);
  await expect(liveGrantView(broken, name, { names })).rejects.toThrow("no answer");
});

const vmiRead = "virtualmachineinstances/vm";
const vmRead = "virtualmachines/vm";

/** A VMI that nobody has been granted yet. */
function freeVmi(metadata: object): object {
  const vmi = sampleVmi({ phase: "Pending" });
  const annotations = { [names.own(grantAnnotation)]: encodeGrant(freeGrant) };
  return { ...vmi, metadata: { ...vmi.metadata, annotations, ...metadata } };
}

/** The VM of that VMI's name. */
function vmThatRemembers(runs: Parameters<typeof encodeMemory>[0], metadata = {}): object {
  const type = names.own(runMemoryCondition);
  const conditions = [{ type, status: "True", message: encodeMemory(runs) }];
  return { metadata: { name: "vm", uid: "vm-uid", ...metadata }, status: { conditions } };
}

/** What a live read asks for, if the VMI has a free grant and this VM and these Pods. */
async function askedFor(
  pods: readonly object[],
  {
    isForVm = false,
    runs = [],
    metadata = {},
  }: { isForVm?: boolean; runs?: Parameters<typeof encodeMemory>[0]; metadata?: object } = {},
): Promise<readonly string[]> {
  const owner = { kind: "VirtualMachine", name: "vm", uid: "vm-uid", controller: true };
  const api = client(
    {
      [vmiRead]: freeVmi({ ownerReferences: [owner], ...metadata }),
      [vmRead]: vmThatRemembers(runs),
      "nodes/n1": { metadata: { name: "n1" } },
    },
    [pods],
  );
  await liveGrantView(api, name, { names, isForVm });
  return api.asked.map((each) => each.replace(/^list .*/, "pods"));
}

const own = { vmiUID: "vmi-uid" };
const earlier = { vmiUID: "earlier-uid", pods: [{ podUID: "p", seq: 2, holder }] };

test("a VM that remembers no run needs neither Pods nor nodes, and one that does needs both", async () => {
  expect(await askedFor([samplePod()], { isForVm: true })).toEqual([vmRead, vmiRead]);
  expect(await askedFor([samplePod()], { isForVm: true, runs: [earlier] })).toEqual(
    expect.arrayContaining([vmRead, vmiRead, "pods", "nodes/n1", "nodes/n2"]),
  );
});

test("the first grant of a VMI needs the Pods of its name, and nodes if something may have run on them", async () => {
  const first = [vmiRead, vmRead, "pods"];
  expect(await askedFor([samplePod()], { runs: [own] })).toEqual(first);
  const ofAnother = { ...samplePod().metadata?.ownerReferences?.[0], uid: "earlier-uid" };
  const left = samplePod({ name: "left", ownerReferences: [ofAnother] as never });
  expect(await askedFor([samplePod(), left])).toEqual([...first, "nodes/n1"]);
  const ending = samplePod({ deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(await askedFor([ending])).toEqual([...first, "nodes/n1"]);
  expect(await askedFor([samplePod()], { runs: [own, earlier] })).toEqual(
    expect.arrayContaining([...first, "nodes/n1", "nodes/n2"]),
  );
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  expect(await askedFor([samplePod()], { metadata })).toEqual([...first, "nodes/n1"]);
});

test("the memory of the VM of its name counts for a VMI that it has not created, once before the first grant", async () => {
  const alone = { ownerReferences: [] };
  expect(await askedFor([samplePod()], { metadata: alone })).toEqual([vmiRead, vmRead, "pods"]);
  const set = { kind: "VirtualMachineInstanceReplicaSet", name: "set", uid: "s", controller: true };
  for (const ownerReferences of [[], [set]]) {
    const vmi = freeVmi({ ownerReferences: ownerReferences as never });
    const objects = { [vmiRead]: vmi, [vmRead]: vmThatRemembers([earlier]) };
    const { grant, vm } = await liveGrantView(client(objects, [[samplePod()]]), name, { names });
    expect(vm).toBeUndefined();
    expect(grant.remembered).toEqual([{ holder, proofs: [] }]);
    const granted = new RunGrant(vmi as never, names, { ...grant, isRemembered: () => true });
    expect(granted.giveTo(samplePod())?.message).toContain("is not proven to have ended");
    expect(granted.annotations).toEqual({});
  }
});

test("a VMI that its VM is going to adopt is granted only once the VM remembers it", async () => {
  const grantedFor = async (vm: object | undefined): Promise<boolean> => {
    const vmi = freeVmi({ ownerReferences: [] });
    const objects = { [vmiRead]: vmi, ...(vm && { [vmRead]: vm }) };
    const { grant } = await liveGrantView(client(objects, [[samplePod()]]), name, { names });
    return new RunGrant(vmi as never, names, grant).giveTo(samplePod()) === undefined;
  };
  expect(await grantedFor(undefined)).toBe(true);
  expect(await grantedFor(vmThatRemembers([]))).toBe(false);
  expect(await grantedFor(vmThatRemembers([own]))).toBe(true);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(await grantedFor(vmThatRemembers([], { deletionTimestamp }))).toBe(true);
});
