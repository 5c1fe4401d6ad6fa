import { expect, test } from "vitest";
import type { Network, VirtualMachineInstance } from "../schema/index.ts";
import { isOrdinalTap, linkNames, primaryBridge, wiredNames } from "./link-names.ts";
import { hashedPodInterface } from "./pod-interface-names.ts";

const pod: Network = { name: "default", pod: {} };
const red: Network = { name: "red", multus: { networkName: "red" } };

test("the links of an interface are named after it", () => {
  expect(linkNames("eth0", pod)).toEqual({
    pod: "eth0",
    bridge: "k6t-eth0",
    port: "eth0-nic",
    tap: "tap0",
  });
  expect(linkNames("ovn-udn1", pod)).toMatchObject({ bridge: "k6t-ovn-udn1", tap: "tap0" });
  expect(linkNames("podb1f51a511f1", red)).toEqual({
    pod: "podb1f51a511f1",
    bridge: "k6t-b1f51a511f1",
    port: "b1f51a511f1-nic",
    tap: "tapb1f51a511f1",
  });
  expect(linkNames("net1", red)).toMatchObject({ bridge: "k6t-net1", tap: "tap1" });
  expect(primaryBridge).toBe("k6t-eth0");
});

test("distinguishes a TAP named by position from the Pod's own and from a hashed one", () => {
  expect(["tap0", "tap1", "tap16", "tapb1f51a511f1", "eth0"].filter(isOrdinalTap)).toEqual([
    "tap1",
    "tap16",
  ]);
});

const vmi = { spec: { domain: {}, networks: [pod, red] } } as VirtualMachineInstance;
const hashed = hashedPodInterface("red");
const tap = `tap${hashed.slice(3)}`;

test.each([
  [[hashed, tap], { podInterface: hashed, target: tap }],
  [["net1", "tap1"], { podInterface: "net1", target: "tap1" }],
  [["net1", hashed, tap], { podInterface: hashed, target: tap }],
  [[hashed], { podInterface: hashed, target: hashed }],
  [["eth0", "tap0"], undefined],
])("among the links %j a secondary network is %j", (links, names) => {
  expect(wiredNames(vmi, red, (name) => links.includes(name))).toEqual(names);
});
