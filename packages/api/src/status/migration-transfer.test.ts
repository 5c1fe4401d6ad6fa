import { expect, test } from "vitest";
import { readMigrationTransfer, writeMigrationTransfer } from "./migration-transfer.ts";

const transfer = { migrationUID: "m", total: 100, remaining: 40, bytesPerSecond: 7, at: 1 };

test("reads back what was written, and nothing else", () => {
  expect(readMigrationTransfer(writeMigrationTransfer(transfer))).toEqual(transfer);
  expect(readMigrationTransfer(JSON.stringify({ ...transfer, other: 1 }))).toEqual(transfer);
  const wrong = [
    ...[undefined, "", "null", "[]", "{", "x".repeat(2_000)],
    ...[{ total: -1 }, { remaining: "40" }, { at: null }, { migrationUID: 1 }].map((change) =>
      JSON.stringify({ ...transfer, ...change }),
    ),
  ];
  for (const text of wrong) expect(readMigrationTransfer(text)).toBeUndefined();
});
