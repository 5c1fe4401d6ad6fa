import { expect, test } from "vitest";
import type { Network } from "../schema/index.ts";
import { networkStatusAnnotation, networkStatuses } from "./network-status.ts";
import {
  hashedPodInterface,
  hashedPodInterfaces,
  isOrdinalPodInterface,
  mayHaveOrdinalInterfaces,
  ordinalPodInterfaces,
  podInterface,
  podInterfaces,
} from "./pod-interface-names.ts";

const multus = (name: string, isDefault = false): Network => ({
  name,
  multus: { networkName: name, ...(isDefault ? { default: true } : {}) },
});
const pod: Network = { name: "default", pod: {} };
const networks = [pod, multus("red"), multus("blue")];

const statuses = (...names: string[]) =>
  networkStatuses({
    metadata: {
      annotations: {
        [networkStatusAnnotation]: JSON.stringify(names.map((name) => ({ interface: name }))),
      },
    },
  });

test("a name fits into the kernel's 15 characters with -nic appended", () => {
  const name = hashedPodInterface("a network with a very long name indeed");
  expect(name).toMatch(/^pod[0-9a-f]{11}$/);
});

test("hashed names depend only on the network's name, ordinal ones on the order", () => {
  expect(hashedPodInterfaces(networks).get("blue")).toBe(
    hashedPodInterfaces([multus("blue")]).get("blue"),
  );
  expect([...ordinalPodInterfaces(networks)]).toEqual([
    ["red", "net1"],
    ["blue", "net2"],
    ["default", "eth0"],
  ]);
});

test("the Multus default network is the primary one", () => {
  const names = hashedPodInterfaces([multus("m", true), multus("n")]);
  expect(names.get("m")).toBe("eth0");
  expect(names.get("n")).toBe(hashedPodInterface("n"));
});

test("one ordinal interface in the Pod makes all names ordinal", () => {
  expect(podInterfaces(networks, statuses("eth0", "net7")).get("red")).toBe("net1");
  expect(podInterfaces(networks, statuses("eth0", "podx")).get("red")).toMatch(/^pod/);
});

test.each([
  ["net1", true],
  ["net12", true],
  ["net", false],
  ["net1a", false],
  ["xnet1", false],
  ["eth0", false],
])("%s is ordinal: %s", (name, expected) => {
  expect(isOrdinalPodInterface(name)).toBe(expected);
});

test("the primary interface has the name from the status", () => {
  expect(podInterface(pod, [{ name: "default", podInterfaceName: "ovn-udn1" }])).toBe("ovn-udn1");
  expect(podInterface(pod, [{ name: "default" }])).toBe("eth0");
});

test("names may be ordinal until a status shows that they are not", () => {
  expect(mayHaveOrdinalInterfaces([pod], [])).toBe(false);
  expect(mayHaveOrdinalInterfaces(networks, [])).toBe(true);
  expect(mayHaveOrdinalInterfaces(networks, [{ name: "blue", podInterfaceName: "pod1" }])).toBe(
    false,
  );
  const first = [
    { name: "red", podInterfaceName: "net1" },
    { name: "blue", podInterfaceName: "pod1" },
  ];
  expect(mayHaveOrdinalInterfaces(networks, first)).toBe(true);
});
