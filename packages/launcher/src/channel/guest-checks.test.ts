import { expect, test } from "vitest";
import { checkEvent, checkStatus } from "./guest-checks.ts";

const stage = { at: "t", kind: "stage", stage: "guest-running", state: "done" };

test("an event of a kind or a stage that only a newer launcher knows is passed over", () => {
  expect(checkEvent(stage)).toEqual(stage);
  expect(checkEvent({ ...stage, stage: "warmed-up" })).toBeUndefined();
  expect(checkEvent({ ...stage, kind: "weather" })).toBeUndefined();
});

test.each([5, null, undefined, "x".repeat(65), ["ready"]])("the stage %j is refused", (wrong) => {
  expect(() => checkEvent({ ...stage, stage: wrong })).toThrow(
    expect.objectContaining({ code: "LAUNCHER_ARGUMENT", path: "event.stage" }),
  );
});

test("a status of an older launcher, without what the domain is made of, is taken", () => {
  const old = { name: "d", state: "Running", reason: "", agent: "connected" };
  const status = { ...old, interfaces: [], disks: [] };
  expect(checkStatus(status, "status")).toEqual(status);
  expect(() => checkStatus({ ...status, hardware: { emulated: "no" } }, "status")).toThrow(
    expect.objectContaining({ path: "status.hardware.emulated" }),
  );
});
