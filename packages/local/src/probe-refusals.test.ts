import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { probeRefusals } from "./probe-refusals.ts";

const vmi = (spec: object): VirtualMachineInstance =>
  ({ spec: { domain: { devices: {} }, ...spec } }) as VirtualMachineInstance;

test("a probe over the network of a guest that names no interface is fine", () => {
  expect(probeRefusals(vmi({ readinessProbe: { httpGet: { port: 80 } } }))).toEqual([]);
});

test("every probe that cannot be honoured is refused by its field, with what to do", () => {
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
