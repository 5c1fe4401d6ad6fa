import type { Disk, DomainSpec } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { planIoThreads } from "./io-thread-plan.ts";

function plan(own: number, others: number, spec: Partial<DomainSpec> = {}): unknown {
  const disks = Array.from(
    { length: own + others },
    (_, at): Disk => ({
      name: `d${at}`,
      ...(at < own ? { dedicatedIOThread: true } : {}),
    }),
  );
  const { total, shared } = planIoThreads({ ...spec, devices: { disks } });
  return [total, shared];
}

describe("planIoThreads", () => {
  test("plans none by default", () => {
    expect(planIoThreads({ devices: { disks: [{ name: "d" }] } })).toMatchObject({
      used: false,
      total: 0,
    });
  });

  test("plans one for a disk that asks for it, and one for all others", () => {
    expect(plan(2, 3)).toEqual([3, 1]);
    expect(plan(1, 0)).toEqual([1, 0]);
  });

  test("shares one under the policy shared", () => {
    expect(plan(0, 3, { ioThreadsPolicy: "shared" })).toEqual([1, 1]);
  });

  test.each([
    [{}, 0, 3, [2, 2]],
    [{ resources: { requests: { cpu: "2" } } }, 0, 3, [3, 3]],
    [{ resources: { limits: { cpu: "1500m" } } }, 1, 5, [4, 3]],
    [{ cpu: { dedicatedCpuPlacement: true, isolateEmulatorThread: true } }, 0, 3, [1, 1]],
  ])("plans two for each CPU under the policy auto: %j", (spec, own, others, expected) => {
    expect(plan(own, others, { ...spec, ioThreadsPolicy: "auto" })).toEqual(expected);
  });

  test("plans a pool of the given size", () => {
    const spec = {
      ioThreadsPolicy: "supplementalPool",
      ioThreads: { supplementalPoolThreadCount: 4 },
    };
    expect(planIoThreads({ ...spec, devices: {} })).toEqual({
      used: true,
      total: 4,
      shared: 0,
      pool: 4,
    });
  });

  test("refuses an unbounded pool", () => {
    const ioThreads = { supplementalPoolThreadCount: 5000 };
    expect(() =>
      planIoThreads({ ioThreadsPolicy: "supplementalPool", ioThreads, devices: {} }),
    ).toThrow(/5000 threads/);
  });

  test.each([{}, { ioThreads: {} }])(
    "refuses a pool without a size, where KubeVirt crashes: %j",
    (spec) => {
      expect(() =>
        planIoThreads({ ...spec, ioThreadsPolicy: "supplementalPool", devices: {} }),
      ).toThrow(
        expect.objectContaining({ path: "spec.domain.ioThreads.supplementalPoolThreadCount" }),
      );
    },
  );
});
