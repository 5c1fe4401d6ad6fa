import { expect, test } from "vitest";
import { describeGrant } from "./describe-grant.ts";
import { freeGrant, type Holder, type ReadGrant } from "./grant.ts";

const holder: Holder = {
  podUID: "pod-a",
  containerID: "c",
  node: "n1",
  machineID: "m",
  bootID: "b",
  nonce: "x",
};
const target = { ...holder, podUID: "pod-b", node: "n2" };
const counted = { vmiUID: "vmi", epoch: 1, seq: 1 };
const handover = { ...counted, holder, target, migrationUID: "move" };

test.each<[ReadGrant, readonly string[]]>([
  [freeGrant, ["Nobody has run", "must grant it"]],
  [
    { ...counted, state: "Granted", podUID: "pod-a" },
    ["Only Pod pod-a may claim", "its node agent must claim it"],
  ],
  [
    { ...counted, state: "Claimed", holder },
    ["Only Pod pod-a on node n1", "until its end is proven"],
  ],
  [
    { ...handover, state: "HandingOver" },
    ["pod-a on node n1 may run", "pod-b on node n2 may only receive", "move"],
  ],
  [
    { ...handover, state: "Released" },
    ["pod-b on node n2 may run", "pod-a on node n1 may never run it again"],
  ],
  [{ ...handover, state: "Committed" }, ["post-copy", "may not start anywhere else"]],
  [{ ...counted, state: "Ended" }, ["Nothing runs", "may grant it again"]],
  [
    { state: "Invalid", problem: "it is absent" },
    ["Nobody may start", "it is absent", "make sure that no node runs it"],
  ],
])("$state: says who may run, who may not, and what is awaited", (grant, parts) => {
  const text = describeGrant(grant);
  for (const part of parts) expect(text).toContain(part);
  expect(text).toMatch(/^[A-Z][^\n]*\.$/);
});

test("text from others cannot control a terminal", () => {
  const evil = { ...counted, state: "Granted", podUID: "pod\u001b[2J" } as const;
  expect(describeGrant(evil)).not.toContain("\u001b");
});
