import { expect, test } from "vitest";
import { mergeAddresses, mergeGuestInterfaces } from "./merge-guest-interfaces.ts";

const join = (known: { mac: string; names?: string[] }, told: { mac: string; name: string }) => ({
  ...known,
  names: [...(known.names ?? []), told.name],
});
const add = ({ mac, name }: { mac: string; name: string }) => ({ mac, names: [name] });

test("matches interfaces by hardware address, and adds ten more of the guest's own", () => {
  const own = Array.from({ length: 30 }, (_, index) => ({ mac: "", name: `veth${index}` }));
  const told = [{ mac: "AA", name: "eth0" }, ...own, { mac: "aa", name: "br0" }];
  const merged = mergeGuestInterfaces([{ mac: "" }, { mac: "aa" }], told, { join, add });
  expect(merged.slice(0, 3)).toEqual([
    { mac: "" },
    { mac: "aa", names: ["eth0", "br0"] },
    { mac: "", names: ["veth0"] },
  ]);
  expect(merged).toHaveLength(12);
});

test.each([
  [[], ["fd00::1", "10.0.0.1"], ["10.0.0.1", "fd00::1"]],
  [["10.9.9.9", "fd99::9"], ["10.0.0.1"], ["10.9.9.9"]],
  [["10.9.9.9"], ["10.0.0.1", "fd00::1"], ["10.9.9.9", "fd00::1"]],
  [["10.9.9.9"], [], []],
])("known %j and reported %j give %j", (known, told, addresses) => {
  expect(mergeAddresses(known, told)).toEqual(addresses);
});
