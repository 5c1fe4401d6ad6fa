import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type {
  Interface,
  Network,
  VirtualMachine,
  VirtualMachineInstance,
} from "../schema/index.ts";
import { defaultNetwork } from "./default-network.ts";
import { addInfoSource, removeInfoSource } from "./info-source.ts";
import { interfaceStatuses } from "./interface-status.ts";
import type { InterfaceStatus } from "./interfaces.ts";
import { networkMigrationRequirement } from "./migration-required.ts";
import { networkMigrationObstacle } from "./network-migratability.ts";
import { networkStatusAnnotation } from "./network-status.ts";
import { hashedPodInterface } from "./pod-interface-names.ts";
import { networkRestartRequired } from "./restart-required.ts";
import { syncVmNetworks } from "./vm-network-sync.ts";

const now = Date.parse("2026-01-01T00:01:00Z");
const main: Interface = { name: "default", masquerade: {} };
const mainNet: Network = { name: "default", pod: {} };
const nic = (extra: Partial<Interface> = {}): Interface => ({ name: "red", bridge: {}, ...extra });
const net = (networkName = "red"): Network => ({ name: "red", multus: { networkName } });

const vmi = (
  interfaces: Interface[],
  networks: Network[],
  status: VirtualMachineInstance["status"] = {},
): VirtualMachineInstance => ({
  metadata: { name: "vm", namespace: "ns" },
  spec: { domain: { devices: { interfaces } }, networks },
  status,
});
const vm = (interfaces: Interface[], networks: Network[]): VirtualMachine => ({
  metadata: { name: "vm", namespace: "ns" },
  spec: { template: { spec: { domain: { devices: { interfaces } }, networks } } },
});
const pod = (...statuses: object[]) => ({
  metadata: { annotations: { [networkStatusAnnotation]: JSON.stringify(statuses) } },
});
const redIf = hashedPodInterface("red");
const known = (extra: Partial<InterfaceStatus> = {}): InterfaceStatus => ({
  name: "red",
  ...extra,
});

test("info sources are a list that keeps its order and has no duplicates", () => {
  expect(addInfoSource("", "domain")).toBe("domain");
  expect(addInfoSource("domain", "multus-status")).toBe("domain, multus-status");
  expect(addInfoSource("domain, multus-status", "domain")).toBe("domain, multus-status");
  expect(removeInfoSource("domain, multus-status", "domain")).toBe("multus-status");
});

test("statuses: primary first, secondary as attached, guest-only ones last, and reported facts kept", () => {
  const subject = vmi([main, nic()], [net(), mainNet], {
    interfaces: [
      { ipAddress: "10.0.0.1", interfaceName: "docker0" },
      { name: "default", mac: "m" },
    ],
  });
  expect(
    interfaceStatuses(subject, pod({ interface: "ens3", default: true }, { interface: redIf })),
  ).toEqual([
    { name: "default", mac: "m", podInterfaceName: "ens3" },
    { name: "red", infoSource: "multus-status", podInterfaceName: redIf },
    { ipAddress: "10.0.0.1", interfaceName: "docker0" },
  ]);
});

test("an interface that has left the Pod loses that source, and stays while the domain has it", () => {
  const subject = vmi([nic()], [net()], {
    interfaces: [known({ infoSource: "domain, multus-status" })],
  });
  expect(interfaceStatuses(subject, pod())).toEqual([
    { name: "red", infoSource: "domain", podInterfaceName: redIf },
  ]);
  expect(interfaceStatuses(vmi([nic()], [net()]), undefined)).toEqual([]);
});

const condition = (status: string, lastTransitionTime?: string) => ({
  conditions: [
    { type: "MigrationRequired", status, ...(lastTransitionTime ? { lastTransitionTime } : {}) },
  ],
});

test.each([
  ["nothing changed", nic(), { interfaces: [known()] }, "Unknown"],
  ["a bridge NIC is plugged", nic(), {}, "False"],
  ["an SR-IOV NIC is plugged", { name: "red", sriov: {} }, {}, "True"],
  ["it waits for 15 s", nic(), condition("False", "2026-01-01T00:00:45Z"), "False"],
  ["it waits for 16 s", nic(), condition("False", "2026-01-01T00:00:44Z"), "True"],
  ["it was required before", nic(), condition("True", "2026-01-01T00:00:00Z"), "False"],
  [
    "an unplugged NIC is still in the Pod",
    nic({ state: "absent" }),
    { interfaces: [known({ infoSource: "multus-status" })] },
    "False",
  ],
  [
    "an unplugged NIC is still in the guest",
    nic({ state: "absent" }),
    { interfaces: [known({ infoSource: "domain, multus-status" })] },
    "Unknown",
  ],
] as const)("migration required when %s: %#", (_, iface, status, expected) => {
  const subject = vmi([main, iface as Interface], [mainNet, net()], status as never);
  expect(networkMigrationRequirement(subject, pod(), now)).toBe(expected);
});

test.each([
  ["red", "ns/red", "Unknown"],
  ["ns/red", "ns/red", "Unknown"],
  ["green", "ns/red", "True"],
  ["other/red", "ns/red", "True"],
])("a network that should be %s and is %s: %s", (wanted, attached, expected) => {
  const subject = vmi([nic()], [net(wanted)], { interfaces: [known({ podInterfaceName: redIf })] });
  const present = pod({ interface: redIf, name: attached });
  expect(networkMigrationRequirement(subject, present, now)).toBe(expected);
});

test.each([
  ["nothing", [main], [mainNet], false],
  ["a NIC is added", [main, nic()], [mainNet, net()], false],
  ["the link is down", [{ ...main, state: "down" }], [mainNet], false],
  ["an empty model", [{ ...main, model: "" }], [mainNet], false],
  ["another model", [{ ...main, model: "e1000" }], [mainNet], true],
  ["another binding", [{ name: "default", bridge: {} }], [mainNet], true],
  ["a NIC is removed", [], [], true],
  ["another CIDR", [main], [{ name: "default", pod: { vmNetworkCIDR: "10.9.0.0/24" } }], true],
] as const)("restart needed: %s", (_, interfaces, networks, expected) => {
  const wanted = vm([...interfaces] as Interface[], [...networks] as Network[]);
  expect(networkRestartRequired(wanted, vmi([main], [mainNet]))).toBe(expected);
});

test("another attachment definition needs no restart, the Pod network does", () => {
  const subject = vmi([nic()], [net()]);
  expect(networkRestartRequired(vm([nic()], [net("green")]), subject)).toBe(false);
  expect(networkRestartRequired(vm([nic(), main], [net(), mainNet]), subject)).toBe(true);
});

test("a new bridge NIC is added to the VMI by a conditional patch; a new masquerade NIC is not", () => {
  const subject = vmi([main], [mainNet], { interfaces: [{ name: "default" }] });
  const plan = syncVmNetworks(vm([main, nic()], [mainNet, net()]), subject);
  expect(plan.vmiPatch).toEqual([
    { op: "test", path: "/spec/networks", value: [mainNet] },
    { op: "add", path: "/spec/networks", value: [mainNet, net()] },
    { op: "test", path: "/spec/domain/devices/interfaces", value: [main] },
    { op: "add", path: "/spec/domain/devices/interfaces", value: [main, nic()] },
  ]);
  const other: Interface = { name: "red", masquerade: {} };
  expect(syncVmNetworks(vm([main, other], [mainNet, net()]), subject).vmiPatch).toBeUndefined();
});

test("a VMI without lists is tested for null, because an empty list would not match", () => {
  const bare = { metadata: { name: "vm" }, spec: { domain: { devices: {} } } };
  const [test] = syncVmNetworks(vm([nic()], [net()]), bare).vmiPatch ?? [];
  expect(test).toEqual({ op: "test", path: "/spec/networks", value: null });
});

test("unplugging: first the VMI; the lists are cleared once the status shows that it is gone", () => {
  const absent = vm([nic({ state: "absent" })], [net()]);
  const plugged = vmi([nic()], [net()], { interfaces: [known({ podInterfaceName: redIf })] });
  const asked = syncVmNetworks(absent, plugged);
  expect(asked.vmiPatch?.[3]?.value).toEqual([nic({ state: "absent" })]);
  expect(asked.vm.interfaces).toHaveLength(1);
  const gone = syncVmNetworks(absent, vmi([nic({ state: "absent" })], [net()]));
  expect(gone.vm).toEqual({ interfaces: [], networks: [] });
  expect(gone.vmiPatch?.[3]?.value).toBeNull();
});

test("unplugs nothing while Pod interfaces may be numbered, or from a VMI that is being deleted", () => {
  const absent = vm([nic({ state: "absent" })], [net()]);
  const ordinal = vmi([nic()], [net()], { interfaces: [known({ podInterfaceName: "net1" })] });
  expect(syncVmNetworks(absent, ordinal).vmiPatch).toBeUndefined();
  const going = vmi([], []);
  const deleted = {
    ...going,
    metadata: { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  expect(syncVmNetworks(vm([nic()], [net()]), deleted).vmiPatch).toBeUndefined();
  expect(syncVmNetworks(absent, undefined).vm.interfaces).toEqual([]);
});

test("the default network: the cluster's binding on the Pod network", () => {
  const empty = vmi([], []).spec;
  expect(defaultNetwork(empty, clusterConfig())).toMatchObject({ interfaces: [{ bridge: {} }] });
  const masquerade = clusterConfig({ network: { defaultNetworkInterface: "masquerade" } });
  expect(defaultNetwork(empty, masquerade)).toMatchObject({ interfaces: [{ masquerade: {} }] });
  const forbidden = clusterConfig({ network: { permitBridgeInterfaceOnPodNetwork: false } });
  expect(defaultNetwork(empty, forbidden)).toMatchObject({ kind: "refused", binding: "bridge" });
  expect(defaultNetwork(vmi([main], [mainNet]).spec, clusterConfig())).toEqual({ kind: "none" });
  const off = { domain: { devices: { autoattachPodInterface: false } } };
  expect(defaultNetwork(off, clusterConfig())).toEqual({ kind: "none" });
});

test.each([
  ["masquerade", main, undefined],
  ["a bridge", { name: "default", bridge: {} }, /masquerade/],
  ["a plugin that migrates", { name: "default", binding: { name: "good" } }, undefined],
  [
    "a plugin that does not say whether it migrates",
    { name: "default", binding: { name: "bad" } },
    /cannot migrate/,
  ],
] as const)("%s on the Pod network", (_, iface, obstacle) => {
  const config = clusterConfig({ network: { binding: { good: { migration: {} }, bad: {} } } });
  const answer = networkMigrationObstacle(vmi([iface as Interface], [mainNet]), config);
  if (obstacle) expect(answer).toMatch(obstacle);
  else expect(answer).toBeUndefined();
});

test("a bridge on the Pod network can migrate if the annotation exists, whatever its value", () => {
  const subject = vmi([{ name: "default", bridge: {} }], [mainNet]);
  const annotated = {
    ...subject,
    metadata: { annotations: { "kubevirt.io/allow-pod-bridge-network-live-migration": "" } },
  };
  expect(networkMigrationObstacle(annotated, clusterConfig())).toBeUndefined();
});
