import { expect, test } from "vitest";
import { names } from "../names/index.ts";
import { encodeMemory, type RememberedRun, readMemory, runMemoryCondition } from "./run-memory.ts";

const type = names().own(runMemoryCondition);

function vmWith(message: string): object {
  return { status: { conditions: [{ type: "Ready" }, { type, status: "True", message }] } };
}

const holder = {
  podUID: "p1",
  containerID: "containerd://1",
  node: "n1",
  machineID: "m1",
  bootID: "b1",
  nonce: "x",
};

const runs: readonly RememberedRun[] = [
  { vmiUID: "a" },
  {
    vmiUID: "b",
    pods: [
      { podUID: "p1", seq: 1, holder },
      { podUID: "p2", seq: 1 },
    ],
  },
];

test("reads back what was written, and a VM without it remembers nothing", () => {
  expect(readMemory(vmWith(encodeMemory(runs)), names())).toEqual({ runs });
  expect(readMemory({}, names())).toEqual({ runs: [] });
});

test.each([
  ["not JSON", "{"],
  ["another version", JSON.stringify({ version: 2, runs: [] })],
  ["no runs", JSON.stringify({ version: 1 })],
  ["a run without a VMI", JSON.stringify({ version: 1, runs: [{}] })],
  [
    "a Pod without a number",
    JSON.stringify({ version: 1, runs: [{ vmiUID: "a", pods: [{ podUID: "p" }] }] }),
  ],
  [
    "half a holder",
    JSON.stringify({
      version: 1,
      runs: [{ vmiUID: "a", pods: [{ podUID: "p", seq: 1, holder: { podUID: "p" } }] }],
    }),
  ],
  ["too long", `"${"x".repeat(40_000)}"`],
  ["empty", ""],
])("never treats an unreadable value as empty: %s", (_, message) => {
  expect(readMemory(vmWith(message), names())).toHaveProperty("problem");
});
