import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { isRestartRequired, restartRequiredConditions } from "./restart-required.ts";

type Spec = VirtualMachineInstance["spec"];

const base: Spec = {
  architecture: "amd64",
  domain: {
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { guest: "1Gi" },
    devices: {},
    firmware: { uuid: "u" },
  },
};
const live = clusterConfig();
const staged = clusterConfig({ vmRolloutStrategy: "Stage" });
const vmi: VirtualMachineInstance = { spec: base };
const specOf = (spec: Spec, extra: object = {}): VirtualMachine["spec"] => ({
  template: { spec },
  ...extra,
});
const required = (after: Spec, { before = base, config = live, extra = {}, subject = vmi } = {}) =>
  isRestartRequired({
    vm: { spec: specOf(after, extra) },
    vmi: subject,
    startedWith: specOf(before),
    config,
  });
const domain = (fields: object, spec: Spec = base): Spec => ({
  ...spec,
  domain: { ...spec.domain, ...fields },
});

/** Field, changed live, changed with the rollout strategy Stage. */
test.each([
  ["sockets", domain({ cpu: { ...base.domain.cpu, sockets: 2 } }), false, true],
  ["guest memory", domain({ memory: { guest: "2Gi" } }), false, true],
  ["the same memory, written differently", domain({ memory: { guest: "1024Mi" } }), false, false],
  ["node selector", { ...base, nodeSelector: { a: "b" } }, false, true],
  ["affinity", { ...base, affinity: { nodeAffinity: {} } }, false, true],
  ["tolerations", { ...base, tolerations: [{ key: "a" }] }, false, true],
  ["cores", domain({ cpu: { ...base.domain.cpu, cores: 2 } }), true, true],
  ["maximum memory", domain({ memory: { guest: "1Gi", maxGuest: "4Gi" } }), true, true],
  ["host name", { ...base, hostname: "h" }, true, true],
  ["a device", domain({ devices: { rng: {} } }), true, true],
  ["another UUID", domain({ firmware: { uuid: "v" } }), true, true],
  ["empty resources", domain({ resources: {} }), false, false],
] as const)("%s", (_, after, whenLive, whenStaged) => {
  expect(required(after as Spec)).toBe(whenLive);
  expect(required(after as Spec, { config: staged })).toBe(whenStaged);
});

const volume = (hotpluggable: boolean, claimName = "c") => ({
  name: "v",
  persistentVolumeClaim: { claimName, ...(hotpluggable ? { hotpluggable } : {}) },
});
const withVolume = (hotpluggable: boolean, claimName?: string): Spec => ({
  ...domain({ devices: { disks: [{ name: "v", disk: { bus: "scsi" } }] } }),
  volumes: [volume(hotpluggable, claimName)],
});

test("hotplug volumes are added and removed live, others are not", () => {
  expect(required(withVolume(true))).toBe(false);
  expect(required(base, { before: withVolume(true) })).toBe(false);
  expect(required(withVolume(false))).toBe(true);
  expect(required(base, { before: withVolume(false) })).toBe(true);
});

test("a claim is replaced live only by a volume migration", () => {
  const options = { before: withVolume(false, "old") };
  expect(required(withVolume(false, "new"), options)).toBe(true);
  const migrating = { ...options, extra: { updateVolumesStrategy: "Migration" } };
  expect(required(withVolume(false, "new"), migrating)).toBe(false);
});

test("a CD-ROM drive is not removed live", () => {
  const drive = domain({ devices: { disks: [{ name: "cd", cdrom: {} }] } });
  expect(required(base, { before: drive })).toBe(true);
});

test("a firmware UUID that was recorded after the start is not a change", () => {
  expect(required(base, { before: domain({ firmware: undefined }) })).toBe(false);
});

test("a NIC that can be plugged live is not a change, even with a staged rollout", () => {
  const nic = {
    ...domain({ devices: { interfaces: [{ name: "n", bridge: {} }] } }),
    networks: [{ name: "n", multus: { networkName: "n" } }],
  };
  expect(required(nic, { config: staged })).toBe(false);
});

test("the condition appears, keeps its time while its message follows the change, and disappears", () => {
  const view = (spec: Spec, conditions: object[] = []) => ({
    vm: { spec: specOf(spec), status: { conditions: conditions as never } },
    vmi,
    startedWith: specOf(base),
    config: live,
  });
  const changed = { ...base, hostname: "h" };
  expect(restartRequiredConditions(view(changed), "t")).toMatchObject([
    { type: "RestartRequired", status: "True", lastTransitionTime: "t" },
  ]);
  const time = { lastTransitionTime: "before" };
  const old = [{ type: "RestartRequired", status: "True", message: "old", ...time }];
  const told = restartRequiredConditions(view(changed, old), "t");
  const message = expect.stringContaining("spec.template.spec.hostname");
  expect(told).toEqual([{ type: "RestartRequired", status: "True", message, ...time }]);
  expect(restartRequiredConditions(view(changed, [...told]), "t")).toEqual(told);
  expect(restartRequiredConditions(view(base, old), "t")).toEqual([]);
  expect(restartRequiredConditions({ ...view(base, old), startedWith: undefined }, "t")).toEqual(
    old,
  );
});
