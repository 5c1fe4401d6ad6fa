import { names } from "@virtkit/api/names";
import type { ObjectMeta } from "@virtkit/api/schema";
import { stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { expect, test } from "vitest";
import { sourceOf } from "../testing/source-of.ts";
import { cachedVmiView } from "./cached-vmi-view.ts";
import type { PodObject } from "./cluster-objects.ts";
import { samplePod, sampleVmi } from "./testing/sample-view.ts";
import { claimIndexes, migrationIndexes, podIndexes, type VmiCaches } from "./vmi-caches.ts";

const owned = (kind: string, name: string, uid: string) => [
  { apiVersion: "v1", kind, name, uid, controller: true },
];

function caches(parts: Partial<VmiCaches> = {}): VmiCaches {
  return {
    vmis: sourceOf([]),
    vms: sourceOf([]),
    pods: sourceOf([], podIndexes),
    claims: sourceOf([], claimIndexes),
    migrations: sourceOf([], migrationIndexes),
    nodes: sourceOf([]),
    namespaces: sourceOf([]),
    configMaps: sourceOf([]),
    resourceQuotas: sourceOf([]),
    storageClasses: sourceOf([]),
    ...parts,
  };
}

const options = { names: names(), isBehind: false };
const name = { namespace: "ns", name: "vm" };
const vmi = sampleVmi();
const vmis = sourceOf([vmi]);

test("finds what belongs to a VMI, and nothing else", () => {
  const attachment = {
    metadata: { namespace: "ns", name: "hp", ownerReferences: owned("Pod", "launcher", "pod-uid") },
  };
  const other = samplePod({
    name: "other",
    ownerReferences: owned("VirtualMachineInstance", "else", "u"),
  });
  const earlier = samplePod({
    name: "earlier",
    uid: "earlier-uid",
    ownerReferences: owned("VirtualMachineInstance", "vm", "old"),
  });
  const pods = sourceOf([samplePod(), attachment, other, earlier], podIndexes);
  const view = cachedVmiView(caches({ vmis, pods }), name, options);
  const namesOf = (list: readonly PodObject[] = []) => list.map(({ metadata }) => metadata?.name);
  expect(namesOf(view?.pods)).toEqual(["launcher", "earlier", "hp"]);
  expect(namesOf(view?.grant?.pods)).toEqual(["launcher", "earlier"]);
  expect(view?.grant?.isLive).toBe(false);
});

test("finds claims by the volumes, by the label of the state, and by its old name", () => {
  const claim = (claimName: string, parts: ObjectMeta = {}) => ({
    metadata: { namespace: "ns", name: claimName, ...parts },
  });
  const filled = claim("disk", { ownerReferences: owned("DataVolume", "import", "dv") });
  const state = claim("state-x", { labels: { [stateClaimLabel]: "vm" } });
  const legacy = claim(`${stateClaimLabel}-vm`);
  const claims = sourceOf([filled, state, legacy, claim("other")], claimIndexes);
  const dataVolumes = sourceOf([claim("import"), claim("unused")]);
  const withDisk = {
    ...vmi,
    spec: { ...vmi.spec, volumes: [{ name: "d", persistentVolumeClaim: { claimName: "disk" } }] },
  };
  const all = caches({ vmis: sourceOf([withDisk]), claims, dataVolumes });
  const view = cachedVmiView(all, name, options);
  expect(view?.claims).toEqual([filled, legacy, state]);
  expect(view?.dataVolumes).toEqual([claim("import")]);
});

test("has no view until every cache has synced", () => {
  expect(cachedVmiView(caches({ vmis }), name, options)).toBeDefined();
  const pods = sourceOf([], podIndexes, false);
  expect(cachedVmiView(caches({ vmis, pods }), name, options)).toBeUndefined();
  const nodes = sourceOf([], {}, false);
  expect(cachedVmiView(caches({ vmis, nodes }), name, options)).toBeUndefined();
  const unseen = sourceOf([], {}, false);
  expect(cachedVmiView(caches({ vmis: unseen }), name, options)).toBeUndefined();
});
