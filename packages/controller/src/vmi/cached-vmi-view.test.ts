import { names } from "@virtkit/api/names";
import type { ObjectMeta } from "@virtkit/api/schema";
import type { ObjectName } from "@virtkit/kube";
import { stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { expect, test } from "vitest";
import type { ObjectSource } from "../plan/object-source.ts";
import { cachedVmiView } from "./cached-vmi-view.ts";
import { samplePod, sampleVmi } from "./testing/sample-view.ts";
import { claimIndexes, migrationIndexes, podIndexes, type VmiCaches } from "./vmi-caches.ts";

interface Named {
  readonly metadata?: ObjectMeta;
}

function source<T extends Named, Index extends string>(
  objects: readonly T[],
  indexes: Readonly<Record<Index, (object: T) => readonly string[]>>,
  hasSynced = true,
): ObjectSource<T, Index> {
  const listing = (found: readonly T[]) =>
    hasSynced
      ? ({ state: "complete", objects: found } as const)
      : ({ state: "incomplete" } as const);
  return {
    get: ({ namespace, name }: ObjectName) => {
      const object = objects.find(
        ({ metadata }) => metadata?.name === name && metadata?.namespace === namespace,
      );
      if (object) return { state: "present", object };
      return { state: hasSynced ? "absent" : "unknown" };
    },
    list: ({ namespace } = {}) =>
      listing(objects.filter(({ metadata }) => !namespace || metadata?.namespace === namespace)),
    byIndex: (index, value) =>
      listing(objects.filter((each) => indexes[index](each).includes(value))),
  };
}

const none = () => source<never, never>([], {});
const owned = (kind: string, name: string, uid: string) => [
  { apiVersion: "v1", kind, name, uid, controller: true },
];

function caches(parts: Partial<VmiCaches> = {}): VmiCaches {
  return {
    vmis: none(),
    vms: none(),
    pods: source([], podIndexes),
    claims: source([], claimIndexes),
    migrations: source([], migrationIndexes),
    nodes: none(),
    namespaces: none(),
    configMaps: none(),
    resourceQuotas: none(),
    storageClasses: none(),
    ...parts,
  };
}

const options = { names: names(), isBehind: false };
const name = { namespace: "ns", name: "vm" };
const vmi = sampleVmi();
const vmis = source([vmi], {});

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
  const pods = source([samplePod(), attachment, other, earlier], podIndexes);
  const view = cachedVmiView(caches({ vmis, pods }), name, options);
  const namesOf = (list: readonly Named[] = []) => list.map(({ metadata }) => metadata?.name);
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
  const claims = source([filled, state, legacy, claim("other")], claimIndexes);
  const dataVolumes = source([claim("import"), claim("unused")], {});
  const withDisk = {
    ...vmi,
    spec: { ...vmi.spec, volumes: [{ name: "d", persistentVolumeClaim: { claimName: "disk" } }] },
  };
  const all = caches({ vmis: source([withDisk], {}), claims, dataVolumes });
  const view = cachedVmiView(all, name, options);
  expect(view?.claims).toEqual([filled, legacy, state]);
  expect(view?.dataVolumes).toEqual([claim("import")]);
});

test("has no view until every cache has synced", () => {
  expect(cachedVmiView(caches({ vmis }), name, options)).toBeDefined();
  const pods = source([], podIndexes, false);
  expect(cachedVmiView(caches({ vmis, pods }), name, options)).toBeUndefined();
  const nodes = source([], {}, false);
  expect(cachedVmiView(caches({ vmis, nodes }), name, options)).toBeUndefined();
  const unseen = source([], {}, false);
  expect(cachedVmiView(caches({ vmis: unseen }), name, options)).toBeUndefined();
});
