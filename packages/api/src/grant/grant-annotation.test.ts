import { expect, test } from "vitest";
import { freeGrant, type Grant, type Holder } from "./grant.ts";
import { decodeGrant, encodeGrant } from "./grant-annotation.ts";

const holder: Holder = {
  podUID: "pod",
  containerID: "containerd://1",
  node: "node",
  machineID: "machine",
  bootID: "boot",
  nonce: "nonce",
};
const counted = { vmiUID: "vmi", epoch: 2, seq: 9 };
const target = { ...holder, podUID: "target" };
const handover = { ...counted, holder, target, migrationUID: "move" };

const grants: readonly Grant[] = [
  freeGrant,
  { ...counted, state: "Granted", podUID: "pod" },
  { ...counted, state: "Claimed", holder },
  { ...handover, state: "HandingOver" },
  { ...handover, state: "Released" },
  { ...handover, state: "Committed" },
  { ...counted, state: "Ended" },
];

test.each(grants)("$state survives writing and reading", (grant) => {
  expect(decodeGrant(encodeGrant(grant), "vmi")).toEqual(grant);
});

const claimed = JSON.parse(encodeGrant(grants[2] as Grant));

test.each([
  ["absent", undefined],
  ["null", null],
  ["not a string", 7],
  ["empty", ""],
  ["not JSON", "{"],
  ["not an object", "[]"],
  ["without a version", JSON.stringify({ ...claimed, version: undefined })],
  ["of a later version", JSON.stringify({ ...claimed, version: 2 })],
  ["of an unknown state", JSON.stringify({ ...claimed, state: "Lent" })],
  ["of a state that every object has", JSON.stringify({ ...claimed, state: "toString" })],
  ["with an unknown field", JSON.stringify({ ...claimed, lease: "x" })],
  ["with a field missing", JSON.stringify({ ...claimed, seq: undefined })],
  ["with an epoch that is not a count", JSON.stringify({ ...claimed, epoch: 1.5 })],
  ["with half a holder", JSON.stringify({ ...claimed, holder: { ...holder, nonce: undefined } })],
  ["with an empty UID", JSON.stringify({ ...claimed, holder: { ...holder, podUID: "" } })],
  ["too long", JSON.stringify({ ...claimed, pad: "x".repeat(9000) })],
  ["free with a holder", JSON.stringify({ ...freeGrant, version: 1, holder })],
])("a value that is %s is invalid, never free", (_, value) => {
  expect(decodeGrant(value, "vmi").state).toBe("Invalid");
});

test("a grant copied from another VMI is invalid", () => {
  expect(decodeGrant(JSON.stringify(claimed), "another")).toMatchObject({
    state: "Invalid",
    problem: expect.stringContaining("another VMI"),
  });
});
