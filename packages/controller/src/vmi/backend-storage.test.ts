import type { KubeObject } from "@virtkit/kube";
import { lookupIn, type PersistentVolumeClaim } from "@virtkit/launcher-pod";
import { stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { expect, test } from "vitest";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { planVmi } from "./plan-vmi.ts";
import { sampleConfig, sampleNow, sampleView, sampleVmi } from "./testing/sample-view.ts";
import type { VmiView } from "./vmi-view.ts";

const storageClasses = [
  {
    metadata: {
      name: "fast",
      annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
    },
  },
];

function view(claims: readonly PersistentVolumeClaim[] = [], owner?: string): VmiView {
  const { metadata, spec, ...rest } = sampleVmi({ phase: "Pending" });
  const ownerReferences = [
    {
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachine",
      name: "vm",
      uid: owner,
      controller: true,
    },
  ];
  const devices = { tpm: { persistent: true } };
  return sampleView({
    vmi: {
      ...rest,
      metadata: { ...metadata, ...(owner && { ownerReferences }) } as never,
      spec: { ...spec, domain: { ...spec.domain, devices } },
    },
    claims: claims.filter(({ metadata: { labels } }) => labels?.[stateClaimLabel] === "vm"),
    storageClasses,
    lookup: lookupIn({ persistentVolumeClaims: claims }),
  });
}

const plan = (of: VmiView, outcomes: readonly WriteOutcome[] = [], config = {}) =>
  planVmi(of, { ...sampleConfig, ...config }, sampleNow, outcomes);

function created(of: VmiView, config = {}): KubeObject["metadata"] | undefined {
  const { writes } = plan(of, [], config);
  const found = writes.find(
    ({ kind, resource }) => kind === "create" && resource.plural.endsWith("claims"),
  );
  return found?.kind === "create" ? found.object.metadata : undefined;
}

test("the name of the claim for a guest's state follows from its owner, so that two creations collide", () => {
  const name = created(view([], "vm-1"))?.name;
  expect(name).toMatch(/^persistent-state-for-vm-[0-9a-f]{10}$/);
  expect(created(view([], "vm-1"))?.name).toBe(name);
  expect(created(view([], "vm-2"))?.name).not.toBe(name);
  expect(created(view())?.name).toMatch(/^persistent-state-for-vm-[0-9a-f]{10}$/);
  expect(created(view(), { podNames: "generated" })).toMatchObject({
    generateName: "persistent-state-for-vm-",
  });
});

const refused = (reason: string): readonly WriteOutcome[] => [
  { kind: "refused", refusal: { reason, message: "no" } },
];

test("a claim that another controller has just created is waited for", () => {
  expect(plan(view(), refused("AlreadyExists")).error).toBeUndefined();
  expect(plan(view(), refused("Forbidden")).error).toMatchObject({
    reason: "FailedBackendStorageCreate",
  });
});

test.each([
  [
    "that is being deleted",
    { deletionTimestamp: "2026-01-01T00:00:00Z" },
    "is still being deleted",
  ],
  ["without its label", { labels: {} }, "must have the label"],
])("a claim of that name %s is reported, and no other is created", (_, parts, message) => {
  const labels = { [stateClaimLabel]: "vm" };
  const name = String(created(view())?.name);
  const claim = { metadata: { namespace: "ns", name, labels, ...parts } };
  const { writes, error } = plan(view([claim]));
  expect(error).toMatchObject({
    reason: "BackendStorageNotReady",
    message: expect.stringContaining(message),
  });
  expect(writes.filter(({ kind }) => kind === "create")).toEqual([]);
});
