import { expect, test } from "vitest";
import { failedMigrationEvent, findFailureReporter } from "./failed-migration.ts";

const vmi = { metadata: { uid: "vmi-1" } };
const told = (host: string, firstTimestamp: string, migrationUID = "m-1", uid = "vmi-1") => ({
  ...failedMigrationEvent(migrationUID, "the disk is gone"),
  involvedObject: { kind: "VirtualMachineInstance", uid },
  ...{ source: { component: "virt-handler", host }, firstTimestamp },
});

test("who reports a failure first is its reporter; others have read it in the status", () => {
  const events = [told("a", "2026-01-01T00:00:02Z"), told("b", "2026-01-01T00:00:01Z")];
  const found = findFailureReporter(events, { vmi, migrationUID: "m-1" });
  expect(found).toEqual({ component: "virt-handler", host: "b" });
});

test("reports about another migration, another VMI or without a shape are not used", () => {
  const time = "2026-01-01T00:00:00Z";
  const others = [told("b", time, "m-10"), told("b", time, "m-1", "vmi-2"), null, "text", {}];
  expect(findFailureReporter(others, { vmi, migrationUID: "m-1" })).toBeUndefined();
  expect(findFailureReporter(undefined, { vmi, migrationUID: "m-1" })).toBeUndefined();
  expect(findFailureReporter([told("b", time)], { vmi: {}, migrationUID: "m-1" })).toBeUndefined();
});

test("a long reason is cut to what the API server accepts", () => {
  expect(failedMigrationEvent("m-1", "x".repeat(5_000)).message).toHaveLength(900);
});
