import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const exec: Change = { exec: { command: ["true"] } };
const http: Change = { httpGet: { port: 80 } };
const offline: Change = { networks: [], domain: { devices: { interfaces: [] } } };

test.each<[Change, ClusterOptions, string[]]>([
  [{ startStrategy: "Paused" }, {}, []],
  [{ startStrategy: "Later" }, {}, ["Invalid spec.startStrategy"]],
  [{ startStrategy: "" }, {}, ["Invalid spec.startStrategy"]],
  [{ startStrategy: "Paused", livenessProbe: exec }, {}, ["Invalid spec.startStrategy"]],
  [{ startStrategy: "Paused", readinessProbe: exec }, {}, []],
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
  [{ evictionStrategy: "LiveMigrateIfPossible" }, {}, []],
  [{ evictionStrategy: "Explode" }, {}, ["Invalid spec.evictionStrategy"]],
  [{}, { configuration: { evictionStrategy: "Explode" } }, ["Invalid spec.evictionStrategy"]],
  [{ evictionStrategy: "None" }, { configuration: { evictionStrategy: "Explode" } }, []],
  [{ tolerations: [{ operator: "Near" }] }, {}, ["schema"]],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});
