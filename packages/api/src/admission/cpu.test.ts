import { expect, test } from "vitest";
import { type Change, domainVerdict } from "../testing/verdict.ts";

const at = "spec.domain.cpu";
const dedicated: Change = { cores: 2, dedicatedCpuPlacement: true };
const hugepages: Change = { guest: "1Gi", hugepages: { pageSize: "2Mi" } };
const numa: Change = { numa: { guestMappingPassthrough: {} } };

test.each<[Change, string[]]>([
  [{ resources: { requests: { cpu: "-1" } } }, ["Invalid spec.domain.resources.requests.cpu"]],
  [{ resources: { requests: { cpu: "-1m" } } }, ["Invalid spec.domain.resources.requests.cpu"]],
  [{ resources: { limits: { cpu: "-1" } } }, ["Invalid spec.domain.resources.limits.cpu"]],
  [
    { resources: { requests: { cpu: "1500m" }, limits: { cpu: "1" } } },
    ["Invalid spec.domain.resources.requests.cpu"],
  ],
  [{ resources: { requests: { cpu: "2" }, limits: { cpu: "0" } } }, []],
  [{ cpu: { ...dedicated, ...numa }, memory: hugepages }, []],
  [{ cpu: numa, memory: hugepages }, [`Invalid ${at}.numa.guestMappingPassthrough`]],
  [{ cpu: { ...dedicated, ...numa } }, [`Invalid ${at}.numa.guestMappingPassthrough`]],
  [{ cpu: { numa: {} } }, []],
  [{ cpu: { isolateEmulatorThread: true } }, [`Invalid ${at}.isolateEmulatorThread`]],
  [{ cpu: { ...dedicated, isolateEmulatorThread: true } }, []],
  [
    { cpu: { features: [{ name: "a" }, { name: "b", policy: "never" }] } },
    [`NotSupported ${at}.features[1].policy`],
  ],
  [{ cpu: { features: [{ name: "a", policy: "forbid" }] } }, []],
  [{ cpu: { sockets: 3, maxSockets: 2 } }, [`Invalid ${at}.sockets`]],
  [{ cpu: { sockets: 2, maxSockets: 2 } }, []],
  [{ cpu: { sockets: 3 } }, []],
  [
    { cpu: { realtime: {} } },
    [`Required ${at}.dedicatedCpuPlacement`, `Required ${at}.numa.guestMappingPassthrough`],
  ],
  [{ cpu: { ...dedicated, ...numa, realtime: {} }, memory: hugepages }, []],
])("%j: %j", (domain, expected) => {
  expect(domainVerdict(domain)).toEqual(expected);
});
