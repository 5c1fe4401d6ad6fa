import { expect, test } from "vitest";
import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { vmiPreconditions, vmiSubresourceObstacle } from "./vmi-preconditions.ts";

const vmi = (
  phase = "Running",
  conditions: Record<string, string> = {},
  spec: object = {},
): VirtualMachineInstance => ({
  metadata: { name: "web" },
  spec: { domain: { devices: {} }, ...spec },
  status: {
    phase,
    conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) as never,
  },
});
const devices = (fields: object) => ({ domain: { devices: fields } });
const sev = (fields: object) => ({ domain: { devices: {}, launchSecurity: { sev: fields } } });
const snapshotting = {
  metadata: { name: "web" },
  status: { snapshotInProgress: "s" },
} as VirtualMachine;

/** Subresource, a VMI, and the code of the refusal, if there is one. */
const rows: readonly (readonly [
  string,
  VirtualMachineInstance,
  number | undefined,
  VirtualMachine?,
])[] = [
  ["console", vmi(), undefined],
  ["console", vmi("Failed"), 409],
  ["console", vmi("Scheduled"), 400],
  ["console", vmi("Running", {}, devices({ autoattachSerialConsole: false })), 400],
  ["vnc", vmi(), undefined],
  ["vnc", vmi("Running", {}, devices({ autoattachGraphicsDevice: false })), 400],
  ["vnc/screenshot", vmi("Pending"), 400],
  ["usbredir", vmi("Running", {}, devices({ clientPassthrough: {} })), undefined],
  ["usbredir", vmi(), 409],
  ["usbredir", vmi("Running", {}, { architecture: "s390x" }), 409],
  ["vsock", vmi(), 400],
  ["vsock", vmi("Running", {}, devices({ autoattachVSOCK: true })), undefined],
  ["portforward", vmi("Running", { Paused: "True" }), 409],
  ["portforward", vmi(), undefined],
  ["pause", vmi(), undefined],
  ["pause", vmi("Scheduled"), 409],
  ["pause", vmi("Running", { Paused: "True" }), 409],
  ["pause", vmi("Running", {}, { livenessProbe: { tcpSocket: { port: 1 } } }), 403],
  ["pause", vmi("Running", {}, { livenessProbe: { guestAgentPing: {} } }), undefined],
  ["unpause", vmi("Running", { Paused: "True" }), undefined],
  ["unpause", vmi(), 409],
  ["unpause", vmi("Running", { Paused: "True" }), 409, snapshotting],
  ["freeze", vmi(), undefined],
  ["freeze", vmi("Succeeded"), 409],
  ["unfreeze", vmi("Scheduled"), 409],
  ["reset", vmi("Scheduled"), undefined],
  ["softreboot", vmi(), undefined],
  ["softreboot", vmi("Running", { Paused: "True" }), 409],
  [
    "softreboot",
    vmi("Running", {}, { domain: { devices: {}, features: { acpi: { enabled: false } } } }),
    409,
  ],
  ["guestosinfo", vmi(), 409],
  ["guestosinfo", vmi("Running", { AgentConnected: "True" }), undefined],
  ["userlist", vmi("Scheduled", { AgentConnected: "True" }), 409],
  ["filesystemlist", vmi(), 409],
  ["backup", vmi("Pending"), 409],
  ["redefine-checkpoint", vmi(), 409],
  ["sev/fetchcertchain", vmi("Scheduled", {}, sev({ attestation: {} })), undefined],
  ["sev/fetchcertchain", vmi("Pending", {}, sev({ attestation: {} })), 409],
  ["sev/querylaunchmeasurement", vmi("Running", {}, sev({})), 409],
  ["sev/injectlaunchsecret", vmi(), 409],
  ["sev/setupsession", vmi("Scheduled", {}, sev({ attestation: {} })), undefined],
  ["sev/setupsession", vmi("Running", {}, sev({ attestation: {} })), 409],
  ["sev/setupsession", vmi("Scheduled", {}, sev({ attestation: {}, session: "s" })), 409],
  ["no-such", vmi(), 400],
];

test.each(rows.map((row) => [row[0], row] as const))("%s: %#", (subresource, row) => {
  const [, subject, code, vm] = row;
  expect(vmiSubresourceObstacle(subresource, { vmi: subject, vm })?.code).toBe(code);
});

test("every subresource has a row above", () => {
  const seen = new Set(rows.map(([subresource]) => subresource));
  expect(Object.keys(vmiPreconditions).filter((name) => !seen.has(name))).toEqual([]);
});
