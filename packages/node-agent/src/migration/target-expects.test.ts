import { type ControlHandler, serveTarget, type TargetEnd } from "@virtkit/migration/handover";
import { MigrationError } from "@virtkit/migration/policy";
import { expect, test } from "vitest";
import { targetExpects } from "./target-expects.ts";

const migration = { migrationUID: "m-1", vmiUID: "vmi-1", epoch: 1, seq: 3 };
const served = serveTarget({ state: async () => "absent" } as unknown as TargetEnd);
const over = (call: ControlHandler) => ({ call });

test("a target that answers for the handover expects it", async () => {
  expect(await targetExpects(over(served), migration)).toBe(true);
});

test("a target of version 1, which knows no hello, expects it, too", async () => {
  const older: ControlHandler = async (method, params) => {
    if (method !== "hello") return await served(method, params);
    const path = "hello.migration.migrationUID";
    throw new MigrationError("MIGRATION_INPUT_INVALID", "no", { path });
  };
  expect(await targetExpects(over(older), migration)).toBe(true);
});

test("a target that does not answer may expect it later", async () => {
  const silent = async (): Promise<never> => {
    throw new MigrationError("MIGRATION_PEER", "no answer", { path: "state" });
  };
  expect(await targetExpects(over(silent), migration)).toBe(false);
});

test.each([
  ["hello", "hello.versions"],
  ["state", "migrationUID"],
])("a target that refuses %s never will", async (refused, path) => {
  const refusing: ControlHandler = async (method, params) => {
    if (method !== refused) return await served(method, params);
    throw new MigrationError("MIGRATION_REFUSED", "no", { path });
  };
  await expect(targetExpects(over(refusing), migration)).rejects.toMatchObject({ path });
});
