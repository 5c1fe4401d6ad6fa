import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { probeRefusals } from "./probe-refusals.ts";

const vmi = (spec: object): VirtualMachineInstance =>
  ({ spec: { domain: { devices: {} }, ...spec } }) as VirtualMachineInstance;

test("accepts a network probe of a guest without interfaces", () => {
  expect(probeRefusals(vmi({ readinessProbe: { httpGet: { port: 80 } } }))).toEqual([]);
});

test("rejects every unsupported probe by its field, with what to do", () => {
  const bridged = {
    domain: { devices: { interfaces: [{ name: "default", bridge: {} }] } },
    networks: [{ name: "default", pod: {} }],
    readinessProbe: { tcpSocket: { port: 80 } },
    livenessProbe: { guestAgentPing: {}, successThreshold: 2 },
  };
  expect(probeRefusals(vmi(bridged))).toEqual([
    {
      field: "spec.readinessProbe.tcpSocket",
      found: expect.stringContaining("masquerade"),
      instead: expect.stringContaining("guestAgentPing"),
    },
    {
      field: "spec.livenessProbe.successThreshold",
      found: "is 2",
      instead: "a liveness probe must have 1",
    },
  ]);
});
