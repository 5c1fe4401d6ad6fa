import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-pod.ts";
import { mergeInterfaceStatuses } from "./interface-statuses.ts";

const vmi = sampleVmi([
  { name: "default", masquerade: {} },
  { name: "red", bridge: {} },
]);
const domain = [
  { name: "red", mac: "02:00:00:00:00:02", queues: 4 },
  { name: "default", mac: "02:00:00:00:00:01", linkState: "down" },
];

test("keeps the status without a domain", () => {
  const interfaces = [{ name: "default", infoSource: "multus-status" }];
  const known = { ...vmi, status: { ...vmi.status, interfaces } };
  expect(mergeInterfaceStatuses(known, {})).toEqual(interfaces);
});

test("puts the primary interface first, with the Pod's addresses", () => {
  const podIps = { default: ["10.244.1.5"] };
  expect(mergeInterfaceStatuses(vmi, { domain, podIps })).toEqual([
    {
      name: "default",
      mac: "02:00:00:00:00:01",
      infoSource: "domain",
      queueCount: 1,
      linkState: "down",
      ipAddress: "10.244.1.5",
      ipAddresses: ["10.244.1.5"],
    },
    { name: "red", mac: "02:00:00:00:00:02", infoSource: "domain", queueCount: 4, linkState: "up" },
  ]);
});

test("keeps the Pod's address while the guest has one of its family", () => {
  const podIps = { default: ["10.244.1.5", "fd00::5"] };
  const merged = (ips: string[]): unknown =>
    mergeInterfaceStatuses(vmi, {
      domain,
      podIps,
      guest: [{ interfaceName: "eth0", mac: "02:00:00:00:00:01", ips }],
    })[0];
  expect(merged(["10.0.2.2", "fe80::1"])).toMatchObject({
    ipAddresses: ["10.244.1.5"],
    infoSource: "domain, guest-agent",
    interfaceName: "eth0",
  });
  expect(merged(["10.0.2.2", "fd10:0:2::2"])).toMatchObject({
    ipAddresses: ["10.244.1.5", "fd00::5"],
  });
  expect(merged([])).not.toHaveProperty("ipAddress");
});

test("takes a bridged guest's own addresses, including link-local ones", () => {
  const guest = [{ interfaceName: "eth1", mac: "02:00:00:00:00:02", ips: ["fe80::2", "nonsense"] }];
  expect(mergeInterfaceStatuses(vmi, { domain, guest })[1]).toMatchObject({
    ipAddresses: ["fe80::2"],
  });
});

test("marks what Multus attached, even before the domain has it", () => {
  const interfaces = [
    { name: "default", infoSource: "domain", podInterfaceName: "ovn0" },
    { name: "blue", infoSource: "multus-status" },
    { name: "red", infoSource: "multus-status", podInterfaceName: "pod1" },
  ];
  const known = { ...vmi, status: { ...vmi.status, interfaces } };
  const [first] = domain.slice(1);
  expect(mergeInterfaceStatuses(known, { domain: first ? [first] : [] })).toMatchObject([
    { name: "default", podInterfaceName: "ovn0" },
    { name: "red", infoSource: "multus-status", podInterfaceName: "pod1" },
  ]);
});

test("a passed-through device has the spec's MAC", () => {
  const sriov = sampleVmi([{ name: "sr", sriov: {}, macAddress: "02:00:00:00:00:09" }]);
  expect(mergeInterfaceStatuses(sriov, { domain: [], hostDevices: ["sr"] })).toEqual([
    { name: "sr", infoSource: "domain", mac: "02:00:00:00:00:09" },
  ]);
});

test("a primary interface stays in its place once it was reported", () => {
  const interfaces = [{ name: "default", mac: "x" }];
  const known = { ...vmi, status: { ...vmi.status, interfaces } };
  expect(mergeInterfaceStatuses(known, { domain: [] })).toEqual([{ name: "default" }]);
});

test("the status stays small, whatever a guest reports", () => {
  const long = "1".repeat(10_000);
  const ips = Array.from({ length: 1_000 }, () => long);
  const guest = Array.from({ length: 1_000 }, (_, index) => ({
    interfaceName: long,
    mac: `${index}`,
    ips,
  }));
  const merged = mergeInterfaceStatuses(vmi, { domain, guest });
  expect(merged).toHaveLength(12);
  expect(JSON.stringify(merged).length).toBeLessThan(100_000);
});
