import { expect, test } from "vitest";
import { podNic, sampleVmi } from "../testing/sample-pod.ts";
import { interfaceQueues } from "./interface-queues.ts";
import { networksToWire } from "./networks-to-wire.ts";
import { planBinding } from "./plan-binding.ts";

const vmi = sampleVmi([
  { name: "default", masquerade: {} },
  { name: "new", bridge: {} },
  { name: "old", bridge: {}, state: "absent" },
]);
const names = (...args: Parameters<typeof networksToWire>): string[] =>
  networksToWire(...args).map(({ name }) => name);

test("selects all present networks at the start, and all on a target", () => {
  expect(names(vmi, "startup")).toEqual(["default", "new"]);
  expect(names(vmi, "migrationTarget")).toEqual(["default", "new", "old"]);
});

test("selects live what the domain still lacks, and what is to go and has left the domain", () => {
  const live = (sources: Record<string, string>): string[] => {
    const interfaces = Object.entries(sources).map(([name, infoSource]) => ({ name, infoSource }));
    return names({ ...vmi, status: { ...vmi.status, interfaces } }, "liveUpdate");
  };
  expect(live({ default: "domain", new: "multus-status", old: "multus-status" })).toEqual([
    "new",
    "old",
  ]);
  expect(live({ default: "domain", new: "domain, multus-status", old: "domain" })).toEqual([]);
  expect(live({ default: "domain" })).toEqual([]);
});

test("queues follow the vCPUs, and a running domain keeps its own number", () => {
  const iface = { name: "default", masquerade: {} };
  const many = sampleVmi([iface]);
  const spec = {
    ...many.spec,
    domain: {
      ...many.spec.domain,
      cpu: { cores: 4, sockets: 2 },
      devices: { interfaces: [iface], networkInterfaceMultiqueue: true },
    },
  };
  expect(interfaceQueues({ ...many, spec }, iface)).toBe(8);
  expect(interfaceQueues({ ...many, spec }, { ...iface, model: "e1000" })).toBe(0);
  expect(interfaceQueues(many, iface)).toBe(0);
  const interfaces = [{ name: "default", infoSource: "domain", queueCount: 3 }];
  const status = { ...many.status, interfaces };
  expect(interfaceQueues({ ...many, spec, status }, iface)).toBe(3);
});

test("a migration's target gives a bridged guest the MAC and the address of the source", () => {
  const bridged = sampleVmi([{ name: "default", bridge: {} }]);
  const source = planBinding(bridged, [podNic()]);
  const lease = source.bindings[0]?.dhcp?.config;
  const interfaces = [{ name: "default", mac: lease?.mac ?? "" }];
  const target = planBinding(
    { ...bridged, status: { ...bridged.status, interfaces } },
    [podNic({ mac: "0a:58:00:00:00:99", index: 9 })],
    { flow: "migrationTarget" },
  );
  expect(target.bindings[0]?.dhcp?.config).toEqual(lease);
});

test("behind masquerade, the guest's address is the same on every node", () => {
  const guest = sampleVmi([{ name: "default", masquerade: {}, macAddress: "02:00:00:00:00:07" }]);
  const on = (cidr: string): unknown => {
    const [binding] = planBinding(guest, [podNic({ addresses: [{ cidr }] })]).bindings;
    return { ip: binding?.dhcp?.config.ip, mac: binding?.domain?.mac };
  };
  expect(on("10.244.1.5/24")).toEqual(on("10.244.9.77/24"));
});
