import type { DomainSpec, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import {
  acceptableCompletionSeconds,
  isOutOfTime,
  migrationDataSize,
} from "./completion-timeout.ts";

const size = (
  domain: Partial<DomainSpec>,
  status: VirtualMachineInstanceStatus = {},
  ephemeral?: number,
): number => migrationDataSize({ spec: { domain: { devices: {}, ...domain } }, status }, ephemeral);

test("memory counts in decimal gigabytes, rounded up, and guest memory takes precedence over the request", () => {
  expect(size({ memory: { guest: "1G" } })).toBe(1);
  expect(size({ memory: { guest: "1Gi" } })).toBe(2);
  expect(size({ resources: { requests: { memory: "3G" } } })).toBe(3);
  expect(size({ memory: { guest: "1G" }, resources: { requests: { memory: "3G" } } })).toBe(1);
  expect(size({})).toBe(0);
});

test("ephemeral disks count if they are copied", () => {
  const domain = { memory: { guest: "1G" } };
  expect(size(domain, { migrationMethod: "BlockMigration" }, 2e9)).toBe(3);
  expect(size(domain, { migrationMethod: "LiveMigration" }, 2e9)).toBe(1);
});

test("migrated volumes count with the smaller of capacity and request", () => {
  const volume = (capacity?: string, request?: string): object => ({
    volumeName: "v",
    sourcePVCInfo: {
      ...(capacity ? { capacity: { storage: capacity } } : {}),
      ...(request ? { requests: { storage: request } } : {}),
    },
  });
  const sizeOf = (...migratedVolumes: object[]): number =>
    size({}, { migratedVolumes } as VirtualMachineInstanceStatus);
  expect(sizeOf(volume("10G", "9G"))).toBe(9);
  expect(sizeOf(volume("8G", "9G"), volume("1G", "1G"))).toBe(9);
  expect(sizeOf(volume("8G"), volume(undefined, "8G"), { volumeName: "w" })).toBe(0);
});

test("a migration may take a number of seconds per gigabyte, and 0 means no limit", () => {
  const acceptable = acceptableCompletionSeconds(2, 150);
  expect([299, 300, 301].map((elapsed) => isOutOfTime(elapsed, acceptable))).toEqual([
    false,
    false,
    true,
  ]);
  expect(isOutOfTime(1e9, acceptableCompletionSeconds(2, 0))).toBe(false);
});

test("rejects memory that is not a quantity, and names its path", () => {
  expect(() => size({ memory: { guest: "much" } })).toThrow(
    expect.objectContaining({ path: "spec.domain.memory.guest" }),
  );
});

test.each([
  [undefined, "(root)"],
  [{}, "spec"],
  [{ spec: {} }, "spec.domain"],
  [
    { spec: { domain: { devices: {} } }, status: { migratedVolumes: [null] } },
    "status.migratedVolumes[0]",
  ],
])("for %j, which is not a VMI, the error names the field", (odd, path) => {
  expect(() => migrationDataSize(odd as never)).toThrow(
    expect.objectContaining({ code: "MIGRATION_INPUT_INVALID", path }),
  );
});
