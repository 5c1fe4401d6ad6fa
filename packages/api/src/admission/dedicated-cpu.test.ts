import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";
import { vcpus } from "./dedicated-cpu.ts";

const placement = "Invalid spec.domain.cpu.dedicatedCpuPlacement";
const resources = "Invalid spec.domain.resources";

const vmiOf = (cpu: Change, lists: Change = {}, memory: unknown = { guest: "1Gi" }): Change => ({
  domain: { cpu: { dedicatedCpuPlacement: true, ...cpu }, resources: lists, memory },
});

test.each<[Change, string[]]>([
  [vmiOf({ cores: 2 }), []],
  [vmiOf({ cores: 2 }, { limits: { memory: "1Gi" } }, { guest: undefined }), ["Required"]],
  [vmiOf({ cores: 2 }, {}, { guest: undefined }), [`${resources}.limits.memory`, "Required"]],
  [vmiOf({ cores: 2 }, {}, { guest: "0" }), [`${resources}.limits.memory`]],
  [vmiOf({}, { requests: { cpu: "1500m" } }), [`${resources}.requests.cpu`]],
  [vmiOf({}, { limits: { cpu: "1500m" } }), [`${resources}.limits.cpu`]],
  [
    vmiOf({ cores: 2 }, { requests: { memory: "1Gi" }, limits: { memory: "2Gi" } }),
    [`${resources}.requests.memory`],
  ],
  [vmiOf({}), [placement]],
  [vmiOf({}, { requests: { cpu: "1" }, limits: { cpu: "2" } }), [placement]],
  [vmiOf({ cores: 3 }, { limits: { cpu: "2" } }), [placement]],
  [vmiOf({ cores: 2 }, { limits: { cpu: "2" } }), []],
  [vmiOf({ cores: 1, threads: 2 }), []],
  [vmiOf({ cores: 1, threads: 3 }), [placement]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});

test.each<[string | undefined, ClusterOptions]>([
  ["arm64", {}],
  ["", { architecture: "arm64" }],
])("arm64 (as %j) has one thread per core", (architecture, options) => {
  const change = {
    architecture,
    domain: { cpu: { dedicatedCpuPlacement: true, threads: 2 }, machine: { type: "" } },
  };
  expect(verdict(change, options)).toContain("Invalid spec.architecture");
});

test("ignores topology factors that are zero", () => {
  expect(vcpus({ cores: 2, sockets: 3, threads: 2 })).toBe(12);
  expect(vcpus({ sockets: 3, cores: 0 })).toBe(3);
  expect(vcpus({ threads: 2 })).toBe(2);
  expect(vcpus(undefined)).toBe(0);
  expect(vcpus({ cores: 65536, sockets: 65536, threads: 2 })).toBe(2);
});
