import { expect, test } from "vitest";
import { planThreadedChild } from "./apply-resources.ts";
import { cpuWeight, formatList, parseList, planResources } from "./plan-resources.ts";

const everything = {
  cpus: [3, 0, 1, 1],
  memoryNodes: [0],
  cpuShares: 1024,
  cpuQuota: { quotaUs: 50_000, periodUs: 100_000 },
  memoryMaxBytes: 1 << 30,
  pidsMax: 100,
  frozen: true,
};

const lines = (version: 1 | 2, resources: object): string[] =>
  planResources(version, resources).map(
    ({ controller, file, value }) => `${controller}/${file}=${value}`,
  );

test("writes limits to the files of v1", () => {
  expect(lines(1, everything)).toEqual([
    "cpuset/cpuset.mems=0",
    "cpuset/cpuset.cpus=0-1,3",
    "cpu/cpu.shares=1024",
    "cpu/cpu.cfs_period_us=100000",
    "cpu/cpu.cfs_quota_us=50000",
    "memory/memory.limit_in_bytes=1073741824",
    "pids/pids.max=100",
    "freezer/freezer.state=FROZEN",
  ]);
});

test("writes limits to the files of v2", () => {
  expect(lines(2, everything)).toEqual([
    "cpuset/cpuset.mems=0",
    "cpuset/cpuset.cpus=0-1,3",
    "cpu/cpu.weight=39",
    "cpu/cpu.max=50000 100000",
    "memory/memory.max=1073741824",
    "pids/pids.max=100",
    "freezer/cgroup.freeze=1",
  ]);
});

test("writes the absence of a limit as each version does", () => {
  const none = { cpuQuota: { quotaUs: "max", periodUs: 100_000 }, memoryMaxBytes: "max" } as const;
  expect(lines(1, none).slice(1)).toEqual([
    "cpu/cpu.cfs_quota_us=-1",
    "memory/memory.limit_in_bytes=-1",
  ]);
  expect(lines(2, none)).toEqual(["cpu/cpu.max=max 100000", "memory/memory.max=max"]);
});

test("counts swap together with memory on v1 and separately on v2", () => {
  const limits = { memoryMaxBytes: 1000, swapMaxBytes: 24 };
  expect(lines(1, limits)).toEqual([
    "memory/memory.limit_in_bytes=1000",
    "memory/memory.memsw.limit_in_bytes=1024",
  ]);
  expect(lines(2, limits)).toEqual(["memory/memory.max=1000", "memory/memory.swap.max=24"]);
});

test("leaves alone what is not asked for", () => {
  expect(planResources(1, {})).toEqual([]);
  expect(lines(2, { frozen: false })).toEqual(["freezer/cgroup.freeze=0"]);
});

test.each([
  { swapMaxBytes: 0 },
  { cpuShares: 1 },
  { memoryMaxBytes: -1 },
  { pidsMax: 1.5 },
  { cpus: [] },
  { cpus: [-1] },
])("rejects %j", (resources) => {
  expect(() => planResources(2, resources)).toThrow(
    expect.objectContaining({ code: "HOST_ARGUMENT_INVALID" }),
  );
});

test("maps the extremes of shares to the extremes of weights", () => {
  expect([2, 262_144].map(cpuWeight)).toEqual([1, 10_000]);
});

test("reads and writes lists of CPUs as ranges", () => {
  expect(parseList("0-2,5\n")).toEqual([0, 1, 2, 5]);
  expect(parseList("")).toEqual([]);
  expect(formatList(parseList("7,0-2,4-5"))).toBe("0-2,4-5,7");
  expect(() => parseList("1-x")).toThrow(expect.objectContaining({ code: "HOST_FORMAT_INVALID" }));
});

test("for single threads, v1 copies the lists and v2 makes the child threaded", () => {
  const parent = { cpus: "0-1", memoryNodes: "0" };
  expect(planThreadedChild(1, parent).map(({ file }) => file)).toEqual([
    "cpuset.mems",
    "cpuset.cpus",
  ]);
  expect(planThreadedChild(2, parent)).toContainEqual({
    in: "child",
    file: "cgroup.type",
    value: "threaded",
  });
});
