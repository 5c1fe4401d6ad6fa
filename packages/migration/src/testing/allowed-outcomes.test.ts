import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { allowedOutcomes } from "./allowed-outcomes.ts";
import { type Fault, type FaultMoment, faultNames, isPossible, moments } from "./fault-moments.ts";
import { cellsOf, faultTable } from "./fault-table.ts";

const document = readFileSync(
  new URL("../../../../docs/migration-faults.md", import.meta.url),
  "utf8",
);
const cells = moments.flatMap((moment) =>
  faultNames.filter((fault) => isPossible(fault, moment)).map((fault) => ({ fault, moment })),
);
const mayBeCold = (fault: Fault, moment: FaultMoment): boolean =>
  allowedOutcomes(fault, moment).includes("cold");

test("each outcome of the document is allowed", () => {
  const known = cellsOf(document);
  for (const { fault, moment } of cells) {
    const outcome = known.get(`${moment.replace(".", " ")}|${fault}`);
    expect({ fault, moment, outcome, allowed: allowedOutcomes(fault, moment) }).toEqual({
      ...{ fault, moment, outcome: expect.any(String) },
      allowed: expect.arrayContaining([outcome]),
    });
  }
});

test("the document matches its cells and its text", () => {
  expect(faultTable(new Map(), document)).toBe(document);
});

test("before a switch to post-copy, no memory is lost unless a QEMU is killed", () => {
  const first = moments.indexOf("post-copy source switch.after");
  const early = cells.filter(({ moment }) => moments.indexOf(moment) < first);
  const cold = early.filter(({ fault, moment }) => mayBeCold(fault, moment));
  expect(new Set(cold.map(({ fault }) => fault))).toEqual(new Set(["source QEMU", "target QEMU"]));
});

test.each([
  ["source QEMU", "source perform.before", ["cold"]],
  ["source QEMU", "source perform.after", ["moves"]],
  ["target QEMU", "target finish.before", ["stays"]],
  ["target QEMU", "source decision.after", ["cold"]],
  ["source launcher", "source decision.before", ["stays"]],
  ["source launcher", "source decision.after", ["moves"]],
  ["link", "source release.before", ["moves"]],
  ["target libvirtd", "post-copy source switch.before", ["stays", "moves"]],
  ["source launcher", "post-copy source switch.after", ["stays", "moves"]],
  ["proxy", "post-copy source finish.before", ["moves", "cold"]],
  ["proxy", "post-copy target running", ["moves"]],
  ["target QEMU", "post-copy target running", ["cold"]],
  ["source QEMU", "post-copy target finish.after", ["moves"]],
] as const)("%s at %s: %s", (fault, moment, allowed) => {
  expect(allowedOutcomes(fault, moment)).toEqual(allowed);
});

test("a launcher or a libvirtd of the source, or a reply, never costs the guest its memory", () => {
  for (const fault of ["source launcher", "source libvirtd", "reply"] as const) {
    expect(moments.filter((moment) => mayBeCold(fault, moment))).toEqual([]);
  }
});

test("a moment that does not exist is an error, not a permission", () => {
  expect(() => allowedOutcomes("link", "source finnish.before")).toThrow("is not a moment");
});
