import { expect, test } from "vitest";
import { cluster, instance, judged, verdict } from "../testing/verdict.ts";
import { admit } from "./admit.ts";
import { isFieldOurs } from "./cause.ts";

const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const claimMode = (volumeMode: string) => ({
  name: "a",
  target: "",
  persistentVolumeClaimInfo: { volumeMode },
});

const create = (object: unknown) =>
  admit({ kind: "VirtualMachineInstance", operation: "CREATE", object }, cluster());

test("allows a valid VMI and does not change it", () => {
  const object = instance();
  const before = JSON.stringify(object);
  expect(create(object)).toEqual({ allowed: true, causes: [], warnings: [] });
  expect(JSON.stringify(object)).toBe(before);
});

test("reports every fault, in the order of the rules, with a helpful message", () => {
  const answer = create(
    instance({ hostname: "Web", domain: { cpu: { sockets: 2, maxSockets: 1 } } }),
  );
  expect(answer).toMatchObject({
    allowed: false,
    code: 422,
    causes: [
      {
        reason: "FieldValueInvalid",
        field: "spec.hostname",
        message: expect.stringMatching(/^spec\.hostname is "Web", which must be a DNS label: .+/),
      },
      { field: "spec.domain.cpu.sockets", message: expect.stringContaining("cpu.maxSockets 1") },
    ],
  });
});

test("reports a cause about a network once, although KubeVirt reports it twice", () => {
  const networks = [{ name: "default", pod: {}, multus: { networkName: "n" } }];
  expect(verdict({ networks })).toEqual(["Required spec.networks[0]"]);
});

test.each([
  ["an unknown field", { spec: { surprise: 1 } }, 422],
  ["an unknown field at the top level", { surprise: 1 }, 422],
  ["a wrong type", { spec: { domain: { cpu: { cores: "two" } } } }, 422],
  ["a wrong type in the status", { status: { phase: 7 } }, 422],
  ["an unknown QoS class", { status: { qosClass: "Best" } }, 422],
  ["an unknown volume mode", { status: { volumeStatus: [claimMode("")] } }, 422],
  ["a number out of range", { spec: { domain: { cpu: { cores: -1 } } } }, 400],
  ["a string that is not a quantity", { spec: { domain: { memory: { guest: "much" } } } }, 400],
  ["a wrong type in the metadata", { metadata: { labels: [] } }, 400],
])("refuses %s before any rule runs", (_, change, code) => {
  const { spec = {}, ...rest } = change as { spec?: Record<string, unknown> };
  const answer = create(instance(spec, rest));
  expect(answer).toMatchObject({ allowed: false, code });
  expect(answer.causes.every(({ reason }) => reason === undefined)).toBe(true);
  expect(answer.causes.every(isFieldOurs)).toBe(true);
});

test("a cause of the schema names its field, too", () => {
  const cores = instance({ domain: { cpu: { cores: "two" } } });
  expect(create(cores).causes).toMatchObject([{ field: "spec.domain.cpu.cores" }]);
  expect(create(7).causes.map(({ field }) => field)).toEqual(["(root)"]);
});

test("accepts what KubeVirt itself adds to status and metadata", () => {
  expect(
    judged(instance({}, { status: { later: 1 }, metadata: { managedFields: [], x: 1 } })),
  ).toEqual([]);
});

test("treats null like absent", () => {
  const nulls = { hostname: null, domain: { cpu: null, devices: { gpus: null, inputs: null } } };
  expect(verdict(nulls)).toEqual([]);
});

test("treats a missing name as empty, and the rules report it", () => {
  const disks = [{ disk: { bus: "virtio" } }];
  expect(verdict({ domain: { devices: { disks } } })).toEqual([
    "Invalid spec.domain.devices.disks[0].name",
    "Invalid spec.domain.devices.disks.domain.devices.disks[0].name",
    "Invalid spec.domain.volumes[0].name",
  ]);
  expect(verdict({ domain: { devices: { filesystems: [{ name: "x" }] } } })).toEqual(["schema"]);
});

test.each([
  [{}],
  [{ spec: {} }],
  [{ spec: { domain: {} } }],
  [instance({ accessCredentials: [{ userPassword: { propagationMethod: {} } }] })],
  [instance({ affinity: { podAffinity: { [preferred]: [{ weight: 1 }] } } })],
])("refuses a missing required object before any rule runs", (object) => {
  expect(judged(object)).toEqual(["schema"]);
});
