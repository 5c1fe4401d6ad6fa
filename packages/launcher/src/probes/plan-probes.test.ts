import type { Interface, Probe, VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { type ProbePlans, planProbes } from "./plan-probes.ts";

const masquerade: Interface = { name: "default", masquerade: {} };

function plan(readinessProbe: Probe, nic: Interface = masquerade): ProbePlans {
  const vmi: VirtualMachineInstance = {
    spec: {
      domain: { devices: { interfaces: [nic] } },
      networks: [{ name: "default", pod: {} }],
      readinessProbe,
    },
  };
  return planProbes(vmi);
}

test("a probe gets the defaults of a Pod's", () => {
  expect(plan({ guestAgentPing: {} })).toEqual({
    readiness: {
      action: { kind: "agent" },
      initialDelay: 0,
      period: 10,
      timeout: 1,
      thresholds: { success: 1, failure: 3 },
    },
    faults: [],
  });
  const own = { initialDelaySeconds: 1, periodSeconds: 2, timeoutSeconds: 3 };
  const thresholds = { successThreshold: 4, failureThreshold: 5 };
  expect(plan({ guestAgentPing: {}, ...own, ...thresholds }).readiness).toMatchObject({
    initialDelay: 1,
    period: 2,
    timeout: 3,
    thresholds: { success: 4, failure: 5 },
  });
});

test("HTTP and TCP go to the guest's end of the masquerade", () => {
  expect(plan({ tcpSocket: { port: 22 } }).readiness?.action).toEqual({
    kind: "tcp",
    host: "10.0.2.2",
    port: 22,
  });
  const httpHeaders = [{ name: "X-Who", value: "me" }];
  const named: Interface = { ...masquerade, ports: [{ name: "web", port: 8443 }] };
  const httpGet = { port: "web", path: "healthz?a=1", scheme: "HTTPS" as const, httpHeaders };
  expect(plan({ httpGet }, named).readiness?.action).toEqual({
    kind: "http",
    url: "https://10.0.2.2:8443/healthz?a=1",
    headers: [["X-Who", "me"]],
  });
});

test("a command keeps its arguments", () => {
  expect(plan({ exec: { command: ["test", "-e", "/ready"] } }).readiness?.action).toEqual({
    kind: "exec",
    command: "test",
    args: ["-e", "/ready"],
  });
});

const ports = [{ name: "web", port: 80 }];
test.each<[field: string, probe: Probe, nic?: Interface]>([
  ["exec.command", { exec: {} }],
  ["tcpSocket.host", { tcpSocket: { port: 1, host: "192.0.2.1" } }],
  ["httpGet.port", { httpGet: { port: "nobody" } }],
  ["httpGet.port", { httpGet: { port: 70_000 } }],
  ["httpGet.port", { httpGet: { port: 22 } }, { ...masquerade, ports }],
  ["tcpSocket", { tcpSocket: { port: 1 } }, { name: "default", bridge: {} }],
])("rejects %s, which cannot be honoured", (field, probe, nic) => {
  const { readiness, faults } = plan(probe, nic);
  expect(readiness).toBeUndefined();
  const path = `spec.readinessProbe.${field}`;
  expect(faults).toEqual([{ path, message: expect.stringContaining(`${path} `) }]);
});

test("a liveness probe has a success threshold of 1", () => {
  const livenessProbe = { guestAgentPing: {}, successThreshold: 2 };
  const vmi = { spec: { domain: { devices: {} }, livenessProbe } };
  expect(planProbes(vmi).faults).toMatchObject([{ path: "spec.livenessProbe.successThreshold" }]);
});
