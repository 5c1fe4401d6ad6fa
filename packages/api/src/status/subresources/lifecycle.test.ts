import { expect, test } from "vitest";
import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { planMemoryDump, planRemoveMemoryDump } from "./memory-dump.ts";
import { planMigrate } from "./migrate.ts";
import type { SubresourceOutcome } from "./outcome.ts";
import { planRestart } from "./restart.ts";
import { planStart } from "./start.ts";
import { planStop } from "./stop.ts";

const vm = (runStrategy = "Manual", status: VirtualMachine["status"] = {}): VirtualMachine => ({
  metadata: { name: "web" },
  spec: { runStrategy, template: { spec: { domain: { devices: {} } } } },
  status,
});
const vmi = (phase: string, spec: object = {}): VirtualMachineInstance => ({
  metadata: { name: "web", uid: "u" },
  spec: { domain: { devices: {} }, ...spec },
  status: { phase },
});
/** What is requested from the controller, the new strategy, or the refusal's code. */
function brief(outcome: SubresourceOutcome): unknown {
  if (outcome.kind === "refused") return outcome.code;
  return outcome.writes.map((write) => {
    if (write.kind !== "patch") return write.kind;
    const { path, value } = write.patch.findLast(({ op }) => op !== "test") ?? {
      path: "",
      value: 0,
    };
    if (path === "/status") return queue((value as VirtualMachine["status"])?.stateChangeRequests);
    return path.endsWith("stateChangeRequests")
      ? queue(value as never)
      : `${path}=${String(value)}`;
  });
}
const queue = (requests: { action: string }[] = []): string =>
  requests.map(({ action }) => action).join("+");

test.each([
  ["Halted", undefined, ["/spec/runStrategy=Always"]],
  ["Manual", undefined, ["Start"]],
  ["Manual", "Failed", ["Stop+Start"]],
  ["Manual", "Succeeded", ["Stop+Start"]],
  ["RerunOnFailure", undefined, ["Start"]],
  ["RerunOnFailure", "Succeeded", ["Stop+Start"]],
  ["RerunOnFailure", "Failed", 409],
  ["Always", undefined, 409],
  ["Once", undefined, 409],
  ["WaitAsReceiver", undefined, []],
  ["Manual", "Running", 409],
  ["Manual", "Pending", 409],
  ["Manual", "Unknown", ["Start"]],
])("start %s with a VMI %s: %j", (strategy, phase, expected) => {
  expect(brief(planStart(vm(strategy), phase === undefined ? undefined : vmi(phase)))).toEqual(
    expected,
  );
});

test.each([
  ["Always", "Running", ["/spec/runStrategy=Halted"]],
  ["Once", undefined, ["/spec/runStrategy=Halted"]],
  ["Manual", "Running", ["Stop"]],
  ["RerunOnFailure", "Running", ["Stop"]],
  ["Manual", "Failed", 409],
  ["Manual", undefined, 409],
  ["Halted", "Running", 409],
  ["Halted", undefined, 409],
  ["WaitAsReceiver", "Running", []],
])("stop %s with a VMI %s: %j", (strategy, phase, expected) => {
  expect(brief(planStop(vm(strategy), phase === undefined ? undefined : vmi(phase)))).toEqual(
    expected,
  );
});

test.each([
  ["Always", "Running", ["Stop+Start"]],
  ["Manual", "Failed", ["Stop+Start"]],
  ["WaitAsReceiver", "Running", ["Stop+Start"]],
  ["Always", undefined, 409],
  ["Halted", "Running", 409],
  ["Once", "Running", 409],
])("restart %s with a VMI %s: %j", (strategy, phase, expected) => {
  expect(brief(planRestart(vm(strategy), phase === undefined ? undefined : vmi(phase)))).toEqual(
    expected,
  );
});

test("a halted VM is started paused by a request, as the body says", () => {
  const outcome = planStart(vm("Halted"), undefined, { paused: true });
  expect(outcome).toMatchObject({
    writes: [{ patch: [{ value: { stateChangeRequests: [{ data: { paused: "true" } }] } }] }],
  });
});

test("halting a VM can be sped up but never slowed down, and a refusal writes nothing", () => {
  const halting = vmi("Running", { terminationGracePeriodSeconds: 30 });
  const grace = "/spec/terminationGracePeriodSeconds";
  expect(brief(planStop(vm("Halted"), halting, { gracePeriod: 5 }))).toEqual([
    `${grace}=5`,
    "Stop",
  ]);
  expect(brief(planStop(vm("Halted"), halting, { gracePeriod: 30 }))).toBe(409);
  expect(brief(planStop(vm("Halted"), vmi("Running"), { gracePeriod: 600 }))).toEqual([
    `${grace}=600`,
    "Stop",
  ]);
});

test("a forced restart gives the guest one second; other grace periods are refused", () => {
  expect(brief(planRestart(vm("Always"), vmi("Running"), { gracePeriodSeconds: 0 }))).toEqual([
    "/spec/terminationGracePeriodSeconds=1",
    "Stop+Start",
  ]);
  expect(brief(planRestart(vm(), vmi("Running"), { gracePeriodSeconds: 5 }))).toBe(400);
  expect(brief(planRestart(vm(), vmi("Running"), { gracePeriodSeconds: -1 }))).toBe(400);
});

test("while a request is pending, only a stop is accepted, and it replaces all others", () => {
  const waiting = vm("Manual", { stateChangeRequests: [{ action: "Start" }] });
  expect(brief(planStart(waiting, undefined))).toBe(500);
  expect(brief(planRestart(waiting, vmi("Running")))).toBe(500);
  expect(planStop(waiting, vmi("Running"))).toMatchObject({
    writes: [{ patch: [{ op: "test", value: [{ action: "Start" }] }, { op: "replace" }] }],
  });
});

test("a person's start or stop clears the record of failed starts", () => {
  const failing = vm("Manual", { startFailure: { consecutiveFailCount: 3 } });
  expect(planStart(failing, undefined)).toMatchObject({
    writes: [
      {
        patch: [
          { op: "test", value: null },
          { op: "add" },
          { op: "remove", path: "/status/startFailure" },
        ],
      },
    ],
  });
});

test("inconsistent volumes prevent a start and a restart", () => {
  const recovery = vm("Manual", {
    conditions: [{ type: "ManualRecoveryRequired", status: "True" }],
  });
  expect(brief(planStart(recovery, undefined))).toBe(409);
  const changing = vm("Manual", { conditions: [{ type: "VolumesChange", status: "True" }] });
  expect(brief(planRestart(changing, vmi("Running")))).toBe(409);
});

test("all of them refuse a VM that contradicts itself", () => {
  const odd = { ...vm(), spec: { ...vm().spec, running: true } };
  for (const plan of [planStart, planStop, planRestart])
    expect(brief(plan(odd, undefined))).toBe(500);
});

test("every write of a dry run is marked", () => {
  expect(planStop(vm("Always"), vmi("Running"), { gracePeriod: 1, dryRun: ["All"] })).toMatchObject(
    {
      writes: [{ dryRun: true }, { dryRun: true }],
    },
  );
});

test("a migration needs a running VMI", () => {
  expect(planMigrate(vm(), vmi("Running"), { addedNodeSelector: { a: "b" } })).toMatchObject({
    writes: [
      { kind: "create", object: { spec: { vmiName: "web", addedNodeSelector: { a: "b" } } } },
    ],
  });
  expect(brief(planMigrate(vm(), vmi("Scheduled")))).toBe(409);
  expect(brief(planMigrate(vm(), undefined))).toBe(404);
});

const dumps = (phase: string, extra: object = {}) =>
  vm("Manual", { memoryDumpRequest: { claimName: "c", phase, ...extra } });

test.each([
  ["a first dump", vm(), { claimName: "c" }, "Running", 202],
  ["no claim", vm(), {}, "Running", 400],
  ["another dump", dumps("Completed"), {}, "Running", 202],
  ["another claim", dumps("Completed"), { claimName: "d" }, "Running", 409],
  ["while one is in progress", dumps("InProgress"), {}, "Running", 409],
  ["while one is being removed", dumps("Dissociating"), {}, "Running", 409],
  ["a guest that is not running", vm(), { claimName: "c" }, "Scheduled", 409],
])("memory dump, %s", (_, subject, options, phase, code) => {
  expect(planMemoryDump(subject, vmi(phase), options).code).toBe(code);
});

test("a claim is released once", () => {
  expect(planRemoveMemoryDump(dumps("Completed")).code).toBe(202);
  expect(planRemoveMemoryDump(dumps("Completed", { remove: true })).code).toBe(409);
  expect(planRemoveMemoryDump(vm()).code).toBe(409);
});
