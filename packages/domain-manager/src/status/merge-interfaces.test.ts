import { expect, test } from "vitest";
import { mergeInterfaces } from "./merge-interfaces.ts";

const card = { name: "default", mac: "02:00:00:00:00:01", ips: [], queueCount: 1 };
const told = (interfaceName: string, mac: string, ...ips: string[]) => ({
  interfaceName,
  mac,
  ips,
});

test("matches the guest's report with a card by hardware address", () => {
  const mac = card.mac.toUpperCase();
  expect(mergeInterfaces([card], [told("eth0", mac, "10.0.2.2", "fd10::2")])).toEqual([
    { ...card, interfaceName: "eth0", ips: ["10.0.2.2", "fd10::2"] },
  ]);
});

test("a bridge over a card counts as the card, with the name of the last and the addresses of the first", () => {
  const bridged = [told("eth0", card.mac), told("br0", card.mac, "10.0.0.9")];
  expect(mergeInterfaces([card], bridged)).toMatchObject([
    { interfaceName: "br0", ips: ["10.0.0.9"] },
  ]);
  const vlan = [told("eth0", card.mac, "10.0.0.1"), told("eth0.7", card.mac, "10.7.0.1")];
  expect(mergeInterfaces([card], vlan)).toMatchObject([
    { interfaceName: "eth0.7", ips: ["10.0.0.1"] },
  ]);
});

test("reports ten that only the guest knows; one without an address matches nothing", () => {
  const own = Array.from({ length: 30 }, (_, index) => told(`veth${index}`, ""));
  const merged = mergeInterfaces([{ name: "sriov", mac: "", ips: [] }], own);
  expect(merged).toHaveLength(11);
  expect(merged[0]).toEqual({ name: "sriov", mac: "", ips: [] });
});
