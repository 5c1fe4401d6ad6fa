import { encodeGrant, grantAnnotation } from "@virtkit/api/grant";
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

test("the VMI, every page of Pods of its name, and all nodes that count are read", async () => {
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
  // The holder's node is gone; that is no proof, and there is nothing to read of it.
  expect(view.grant.nodes).toEqual([{ metadata: { name: "n1" } }]);
  expect(api.asked).toContain("nodes/n2");
  expect(api.asked).toContain(`list ${names.labels.vmiId}=vm`);
});

test("a VMI that is gone is told from one that cannot be read", async () => {
  const gone = await liveGrantView(client({}, [[]]), name, { names });
  expect(gone.vmi).toBeUndefined();
  const silent = new KubeError("KUBE_TIMEOUT", "no answer");
  const broken = client({ "virtualmachineinstances/vm": silent }, [[]]);
  await expect(liveGrantView(broken, name, { names })).rejects.toThrow("no answer");
});
