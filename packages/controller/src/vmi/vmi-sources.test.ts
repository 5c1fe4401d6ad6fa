import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import type { ObjectSource } from "../plan/object-source.ts";
import type { PodObject } from "./cluster-objects.ts";
import { samplePod, sampleVmi } from "./testing/sample-view.ts";
import { podIndexes, type VmiCaches } from "./vmi-caches.ts";
import { vmiSources } from "./vmi-sources.ts";

function empty<T, Index extends string = never>(
  state: "absent" | "unknown" = "absent",
): ObjectSource<T, Index> {
  const list = () => ({ state: "complete", objects: [] }) as const;
  return { get: () => ({ state }), list, byIndex: list };
}

const attachment: PodObject = {
  metadata: {
    namespace: "ns",
    name: "hp",
    ownerReferences: [
      { apiVersion: "v1", kind: "Pod", name: "launcher", uid: "pod-uid", controller: true },
    ],
  },
};

function sources(
  vmis: VmiCaches["vmis"],
  { pod = {}, migrations = [] }: { pod?: object; migrations?: readonly object[] } = {},
) {
  const asked: string[] = [];
  const cachedPods = [samplePod({ resourceVersion: "old" }), attachment];
  const caches: VmiCaches = {
    vmis,
    vms: empty(),
    pods: {
      ...empty(),
      byIndex: (index, value) => ({
        state: "complete",
        objects: cachedPods.filter((pod) => podIndexes[index](pod).includes(value)),
      }),
    },
    claims: empty(),
    migrations: empty(),
    nodes: empty(),
    namespaces: empty(),
    configMaps: empty(),
    resourceQuotas: empty(),
    storageClasses: empty(),
  };
  const live = samplePod({ resourceVersion: "new", ...pod });
  const client = {
    get: async () => sampleVmi({ phase: "Running" }) as never,
    list: async ({ plural }: { readonly plural: string }) => {
      asked.push(plural);
      const items = plural === "pods" ? [live] : migrations;
      return { items, metadata: { resourceVersion: "1" } } as never;
    },
  };
  const made = vmiSources({ caches, client, names: names(), isBehind: () => false });
  return { ...made, asked };
}

const name = { namespace: "ns", name: "vm" };

test("a live view has the present VMI and launchers, and the rest from caches", async () => {
  const vmi = sampleVmi({ phase: "Scheduled" });
  const { cached, live } = sources({ ...empty(), get: () => ({ state: "present", object: vmi }) });
  expect(cached(name)?.vmi?.status?.phase).toBe("Scheduled");
  const view = await live(name, {});
  expect(view.vmi?.status?.phase).toBe("Running");
  expect(view.grant?.isLive).toBe(true);
  const versions = view.pods.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]);
  expect(versions).toEqual([
    ["launcher", "new"],
    ["hp", undefined],
  ]);
});

test("reads nothing live while the rest of the view is unknown", async () => {
  const { cached, live } = sources(empty("unknown"));
  expect(cached(name)).toBeUndefined();
  await expect(live(name, {})).rejects.toMatchObject({ code: "CONTROLLER_NOT_SYNCED" });
});

test("the migrations of target Pods that the cache does not show are read live", async () => {
  const vmi = sampleVmi({ phase: "Running" });
  const present = { ...empty(), get: () => ({ state: "present", object: vmi }) } as never;
  const plain = sources(present);
  expect((await plain.live(name, {})).migrations).toEqual([]);
  expect(plain.asked).toEqual(["pods"]);
  const migration = { metadata: { namespace: "ns", name: "move", uid: "mig-uid" }, spec: {} };
  const pod = { labels: { [names().labels.migrationJobUid]: "mig-uid" } };
  const moving = sources(present, { pod, migrations: [migration] });
  expect((await moving.live(name, {})).migrations).toEqual([migration]);
  expect(moving.asked).toEqual(["pods", "virtualmachineinstancemigrations"]);
});
