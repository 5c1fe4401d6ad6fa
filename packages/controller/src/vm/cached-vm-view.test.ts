import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { sourceOf } from "../testing/source-of.ts";
import { plan, reasonsOf, vmOf } from "../testing/vm-objects.ts";
import { podIndexes } from "../vmi/vmi-caches.ts";
import { cachedVmView } from "./cached-vm-view.ts";
import type { VmCaches } from "./vm-caches.ts";
import type { VmPassView } from "./vm-view.ts";

const named = (namespace: string, name: string, rest: object = {}) =>
  ({ metadata: { namespace, name }, ...rest }) as KubeObject;

/** What the caches show of a VM with one DataVolume template. */
function viewWith(spec: object, parts: Partial<VmCaches> = {}): VmPassView {
  const templates = [{ metadata: { name: "disk" }, spec: { storage: {}, ...spec } }];
  const vm = vmOf("Always", { dataVolumeTemplates: templates as never });
  const caches: VmCaches = {
    vms: sourceOf([vm]),
    vmis: sourceOf([]),
    pods: sourceOf([], podIndexes),
    claims: sourceOf([]),
    revisions: sourceOf([], { controller: () => [] }),
    instancetypes: sourceOf([]),
    clusterInstancetypes: sourceOf([]),
    preferences: sourceOf([]),
    clusterPreferences: sourceOf([]),
    namespaces: sourceOf([]),
    dataVolumes: sourceOf([]),
    dataSources: sourceOf([]),
    ...parts,
  };
  const view = cachedVmView(caches, { namespace: "ns", name: "vm" });
  if (!view || view === "absent") throw new Error("the caches do not show the VM");
  return view;
}

const pvc = { name: "image", namespace: "golden" };
const claims = sourceOf([named("golden", "image"), named("golden", "other"), named("ns", "image")]);
const missing = "SourcePVCNotAvailabe";

const sources: Readonly<Record<string, readonly [object, KubeObject[]]>> = {
  directly: [{ source: { pvc } }, []],
  "by way of a DataSource": [
    { sourceRef: { kind: "DataSource", name: "fedora", namespace: "golden" } },
    [named("golden", "fedora", { spec: { source: { pvc: { name: "image" } } } })],
  ],
  "by way of a DataSource of a DataSource": [
    { sourceRef: { kind: "DataSource", name: "fedora", namespace: "golden" } },
    [
      named("golden", "fedora", {
        spec: { source: { dataSource: { name: "latest" } } },
        status: { source: { pvc } },
      }),
    ],
  ],
};

test.each(Object.entries(sources))(
  "a golden image in another namespace, cloned %s, is in the view and raises no warning",
  (_, [spec, found]) => {
    const dataSources = sourceOf(found);
    const view = viewWith(spec, { claims, dataSources });
    expect(view.claims).toEqual([named("golden", "image")]);
    expect(reasonsOf(plan({ ...view, mayClone: () => true }))).not.toContain(missing);
    const without = viewWith(spec, { dataSources });
    expect(reasonsOf(plan({ ...without, mayClone: () => true }))).toContain(missing);
  },
);

test("a source without a namespace is a claim of the VM's own namespace", () => {
  const view = viewWith({ source: { pvc: { name: "image" } } }, { claims });
  expect(view.claims).toEqual([named("ns", "image")]);
});
