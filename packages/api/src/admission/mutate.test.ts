import { expect, test } from "vitest";
import { type Change, cluster, instance, overlay } from "../testing/verdict.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import { mutate } from "./mutate.ts";

const request = (change: Partial<AdmissionRequest>): AdmissionRequest => ({
  kind: "VirtualMachineInstance",
  operation: "CREATE",
  object: instance(),
  ...change,
});
const paths = (change: Partial<AdmissionRequest>): string[] | number => {
  const mutation = mutate(request(change), cluster());
  return mutation.allowed ? mutation.patch.map(({ op, path }) => `${op} ${path}`) : mutation.code;
};
const vm = (spec: Change = {}, rest: Change = {}): Change =>
  overlay({ metadata: {}, spec: { template: { spec: instance()["spec"] } } }, { ...rest, spec });

test("each kind gets the same patch as from KubeVirt", () => {
  expect(paths({})).toEqual(["replace /spec", "replace /metadata", "replace /status"]);
  expect(paths({ kind: "VirtualMachine", object: vm() })).toEqual([
    "replace /spec",
    "replace /metadata",
  ]);
  const object = { spec: { vmiName: "vm" } };
  expect(paths({ kind: "VirtualMachineInstanceMigration", object })).toEqual(["replace /metadata"]);
});

test("only KubeVirt changes the status of a VM; changes by others are undone", () => {
  const oldObject = instance({}, { status: { phase: "Running" } });
  const object = instance({}, { status: { phase: "Failed" } });
  const update = { operation: "UPDATE", object, oldObject } as const;
  const username = "system:serviceaccount:kubevirt:kubevirt-handler";
  expect(paths({ ...update, username })).toEqual([]);
  expect(paths({ ...update, object: oldObject })).toEqual([]);
  expect(mutate(request(update), cluster())).toMatchObject({
    object: { status: { phase: "Running", guestOSInfo: {}, runtimeUser: 0 } },
    patch: [{ op: "replace", path: "/status" }],
  });
});

test.each<[Change, Change]>([
  [{ guestOSInfo: {}, runtimeUser: 0 }, {}],
  [
    { migrationState: { endTimestamp: "2026-01-01T01:00:00+01:00" } },
    { migrationState: { endTimestamp: "2026-01-01T00:00:00Z" } },
  ],
])("the status %j equals %j", (status, old) => {
  const object = instance({}, { status });
  const oldObject = instance({}, { status: old });
  expect(paths({ operation: "UPDATE", object, oldObject })).toEqual([]);
});

test("leaves what the patch does not name as it was sent", () => {
  const status = {
    volumeRequests: [{ addVolumeOptions: { name: "a", disk: {}, volumeSource: {} } }],
  };
  const object = vm({}, { status });
  expect(mutate(request({ kind: "VirtualMachine", object }), cluster())).toMatchObject({
    object: { status },
  });
  const { spec } = instance({ hostname: "" });
  const update = {
    operation: "UPDATE",
    oldObject: instance(),
    object: { spec, status: { phase: "X" } },
  } as const;
  expect(mutate(request(update), cluster())).toMatchObject({ object: { spec } });
});

test("leaves a VM that is being deleted alone", () => {
  const object = vm({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  expect(paths({ kind: "VirtualMachine", object })).toEqual([]);
});

test("warns about a preset that was applied", () => {
  const metadata = { annotations: { "virtualmachinepreset.kubevirt.io/x": "" } };
  const mutation = mutate(request({ object: instance({}, { metadata }) }), cluster());
  expect(mutation.allowed && mutation.warnings).toHaveLength(1);
});

test("refuses if the cluster's default network cannot be used", () => {
  const offline = { networks: undefined, domain: { devices: { interfaces: undefined } } };
  const configuration = { network: { defaultNetworkInterface: "slirp" } };
  const mutation = mutate(request({ object: instance(offline) }), cluster({ configuration }));
  expect(mutation).toMatchObject({ allowed: false, code: 400, causes: [] });
});

test.each<[Change, Change | undefined, string | undefined]>([
  [{ instancetype: { name: "small" } }, undefined, undefined],
  [{ instancetype: {} }, undefined, "spec.instancetype"],
  [{ preference: {} }, undefined, "spec.preference"],
  [
    { instancetype: { inferFromVolume: "root", name: "small" } },
    undefined,
    "spec.instancetype.name",
  ],
  [{ preference: { inferFromVolume: "root", kind: "k" } }, undefined, "spec.preference.kind"],
  [
    { instancetype: { name: "a", inferFromVolumeFailurePolicy: "Hope" } },
    undefined,
    "spec.instancetype.inferFromVolumeFailurePolicy",
  ],
  [
    { instancetype: { name: "b", revisionName: "r" } },
    { instancetype: { name: "a", revisionName: "r" } },
    "spec.instancetype.revisionName",
  ],
  [{ preference: { name: "b" } }, { preference: { name: "a", revisionName: "r" } }, undefined],
  [
    { preference: { name: "b", revisionName: "r" } },
    { preference: { name: "a", revisionName: "r" } },
    "spec.preference.revisionName",
  ],
])("a reference %j after %j: %s", (spec, old, field) => {
  const operation = old ? "UPDATE" : "CREATE";
  const change = {
    kind: "VirtualMachine",
    operation,
    object: vm(spec),
    oldObject: vm(old),
  } as const;
  const mutation = mutate(request(change), cluster());
  expect(mutation.allowed ? undefined : mutation.causes[0]?.field).toBe(field);
});

test("refuses unreadable objects as admission does", () => {
  expect(paths({ object: 7 })).toBe(422);
  expect(paths({ object: instance({ dnsPolicy: "Nearest" }) })).toBe(422);
  expect(paths({ object: instance({ domain: { cpu: { cores: -1 } } }) })).toBe(400);
  expect(paths({ operation: "UPDATE", oldObject: 7 })).toBe(400);
  expect(paths({ kind: "VirtualMachine", object: {} })).toBe(422);
  expect(paths({ kind: "VirtualMachine", object: vm(), operation: "UPDATE", oldObject: 7 })).toBe(
    400,
  );
});
