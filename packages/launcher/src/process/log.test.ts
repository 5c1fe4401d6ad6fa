import { expect, test } from "vitest";
import { jsonLog, whereOf } from "./log.ts";

test("a line is one JSON object", () => {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => lines.push(line),
    () => new Date(0),
  );
  log.debug("not written");
  log.warn({ port: 1 }, "two\nlines");
  expect(lines).toEqual([
    '{"level":"warn","time":"1970-01-01T00:00:00.000Z","message":"two\\nlines","port":1}\n',
  ]);
});

test("loses only the line that cannot be written", () => {
  const log = jsonLog(() => {
    throw new Error("EAGAIN");
  });
  expect(() => log.info("x")).not.toThrow();
});

test("logs the place of a defect without its text", () => {
  const where = whereOf(new TypeError("the password is\n    hunter2"));
  expect(where).toMatch(/^TypeError\nat .*log\.test\.ts/);
  expect(where).not.toContain("hunter2");
  expect(whereOf("hunter2")).toBe("string");
});
