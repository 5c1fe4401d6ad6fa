import { expect, test } from "vitest";
import { brokenPostCopyEvent, findBrokenPostCopy } from "./broken-post-copy.ts";

const vmi = { metadata: { name: "vm", uid: "u1" } };
const since = "2026-01-01T00:00:10Z";
const event = (why: string, lastTimestamp: string, parts: object = {}) => ({
  ...brokenPostCopyEvent(why),
  ...{ involvedObject: { kind: "VirtualMachineInstance", name: "vm", uid: "u1" }, lastTimestamp },
  ...parts,
});

test("the newest report of this VMI and migration counts, in whatever order events are listed", () => {
  const other = { involvedObject: { kind: "VirtualMachineInstance", name: "vm", uid: "u0" } };
  const events = [
    event("the link is down", "2026-01-01T00:00:30Z"),
    event("the target does not answer", "2026-01-01T00:00:20Z"),
    event("of an earlier migration", "2026-01-01T00:00:09Z"),
    event("of an earlier VMI", "2026-01-01T00:00:40Z", other),
    { ...event("", "2026-01-01T00:00:50Z"), message: "VirtualMachineInstance is migrating." },
    null,
  ];
  expect(findBrokenPostCopy(events, { vmi, since })).toEqual({
    why: "the link is down",
    at: "2026-01-01T00:00:30Z",
  });
  expect(findBrokenPostCopy(events.slice(2), { vmi, since })).toBeUndefined();
  expect(findBrokenPostCopy(events, { vmi: {}, since })).toBeUndefined();
  expect(findBrokenPostCopy("text", { vmi, since })).toBeUndefined();
});

test("a long reason is cut to what Kubernetes accepts", () => {
  expect(brokenPostCopyEvent("x".repeat(2_000)).message).toHaveLength(900);
});
