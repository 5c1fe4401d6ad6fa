import { expect, test } from "vitest";
import type { DomainStatus } from "./domain-status.ts";
import { type IncidentEvent, incidentOf, missedIncident } from "./incidents.ts";
import { panicDetail, readPanicDetail } from "./panic-detail.ts";

const dom = { name: "n", uuid: "u", id: 1 };
const io = (action: "pause" | "report", reason: string): IncidentEvent => ({
  type: "ioError",
  dom,
  source: "/x",
  alias: "ua-root",
  action,
  reason,
});

test.each<[string, IncidentEvent, object | undefined]>([
  [
    "no space",
    io("pause", "enospc"),
    { reason: "IOerror", message: expect.stringContaining("no space is left for volume root") },
  ],
  ["a broken disk", io("pause", ""), { message: expect.stringContaining("volume root failed") }],
  ["an error that is passed to the guest", io("report", ""), undefined],
  ["a watchdog", { type: "watchdog", dom, action: "reset" }, { reason: "Watchdog" }],
  ["a watchdog that does nothing", { type: "watchdog", dom, action: "none" }, undefined],
  [
    "a panic",
    { type: "lifecycle", dom, event: "crashed", detail: 0 },
    { reason: "GuestPanicked", message: expect.stringContaining("hyper-v 0x5a") },
  ],
  ["a start", { type: "lifecycle", dom, event: "started", detail: 0 }, undefined],
])("%s", (_, event, expected) => {
  const found = incidentOf(event, "hyper-v 0x5a");
  if (expected) expect(found).toMatchObject(expected);
  else expect(found).toBeUndefined();
});

test("reports a pause by a disk whose event was missed, once", () => {
  const status = (state: "Running" | "Paused", reason: string): DomainStatus => ({
    ...{ name: "n", state, reason, agent: "disconnected", interfaces: [], disks: [] },
  });
  const paused = status("Paused", "IOError");
  expect(missedIncident(status("Running", "Unknown"), paused)).toMatchObject({ reason: "IOerror" });
  expect(missedIncident(paused, paused)).toBeUndefined();
  expect(missedIncident(paused, status("Running", "Unknown"))).toBeUndefined();
});

test("finds the last panic of a log, with the numbers of Windows", async () => {
  const log = `start\n2024: panic pvpanic: \n2025: panic hyper-v: arg1='0x5a', arg2='0x1', arg9='0x2'\nend`;
  expect(panicDetail(log)).toBe("hyper-v 0x5a 0x1");
  expect(panicDetail("nothing")).toBeUndefined();
  expect(await readPanicDetail("/nowhere/at/all")).toBeUndefined();
});
