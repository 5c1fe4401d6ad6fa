import { LauncherError } from "@virtkit/launcher/client";
import { expect, test } from "vitest";
import { isUnknownMigration } from "./is-unknown-migration.ts";

test.each([
  ["LAUNCHER_ARGUMENT", "migrationUID", true],
  ["LAUNCHER_VERB", undefined, true],
  ["LAUNCHER_ARGUMENT", "args.migrationUID", false],
  ["LAUNCHER_ARGUMENT", "args.after", false],
  ["LAUNCHER_ARGUMENT", undefined, false],
  ["LAUNCHER_BUSY", "migrationUID", false],
  ["LAUNCHER_CLOSED", undefined, false],
] as const)("%s about %s says that the migration is unknown: %s", (code, path, expected) => {
  expect(isUnknownMigration(new LauncherError(code, "no", { path }))).toBe(expected);
});

test("an error of another kind says nothing", () => {
  const error = Object.assign(new Error("no"), { code: "LAUNCHER_VERB" });
  expect(isUnknownMigration(error)).toBe(false);
});
