import { expect, test } from "vitest";
import { checkEvent, checkStatus } from "./guest-checks.ts";

const stage = { at: "t", kind: "stage", stage: "guest-running", state: "done" };

test("skips an event of a kind or a stage that only a newer launcher knows", () => {
  expect(checkEvent(stage)).toEqual(stage);
  expect(checkEvent({ ...stage, stage: "warmed-up" })).toBeUndefined();
  expect(checkEvent({ ...stage, kind: "weather" })).toBeUndefined();
});

test.each([5, null, undefined, "x".repeat(65), ["ready"]])("rejects the stage %j", (wrong) => {
  expect(() => checkEvent({ ...stage, stage: wrong })).toThrow(
    expect.objectContaining({ code: "LAUNCHER_ARGUMENT", path: "event.stage" }),
  );
});

test("accepts a status of an older launcher, without the parts of the domain", () => {
  const old = { name: "d", state: "Running", reason: "", agent: "connected" };
  const status = { ...old, interfaces: [], disks: [] };
  expect(checkStatus(status, "status")).toEqual(status);
  expect(() => checkStatus({ ...status, hardware: { emulated: "no" } }, "status")).toThrow(
    expect.objectContaining({ path: "status.hardware.emulated" }),
  );
});
