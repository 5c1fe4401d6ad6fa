import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const exec: Change = { exec: { command: ["true"] } };
const http: Change = { httpGet: { port: 80 } };
const offline: Change = { networks: [], domain: { devices: { interfaces: [] } } };

test.each<[Change, ClusterOptions, string[]]>([
  [{ readinessProbe: http, livenessProbe: { tcpSocket: { port: 22 } } }, {}, []],
  [{ readinessProbe: {} }, {}, ["Required spec.readinessProbe"]],
  [{ livenessProbe: { ...exec, guestAgentPing: {} } }, {}, ["Invalid spec.livenessProbe"]],
  [{ ...offline, readinessProbe: http }, {}, ["Invalid spec.readinessProbe.httpGet"]],
  [
    { ...offline, livenessProbe: { tcpSocket: { port: 1 } } },
    {},
    ["Invalid spec.livenessProbe.tcpSocket"],
  ],
  [{ ...offline, livenessProbe: exec }, {}, []],
  [{ readinessProbe: { httpGet: { port: 80, scheme: "GOPHER" } } }, {}, ["schema"]],
  [{ tolerations: [{ operator: "Near" }] }, {}, ["schema"]],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});
