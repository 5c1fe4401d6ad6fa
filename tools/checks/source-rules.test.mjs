import { expect, test } from "vitest";
import { sourceFaults, staleExceptions } from "./source-rules.mjs";

const file = "packages/node-agent/src/run/planted.ts";

test.each([
  ['import { setTimeout as sleep } from "node:timers/promises";', "node:timers"],
  ['import timers from "node:timers";', "node:timers"],
  ["const timer = setTimeout(wake, 5);", "setTimeout"],
  ["await new Promise((done) => globalThis.setTimeout(done, 5));", "setTimeout"],
  ["schedule(setTimeout);", "setTimeout"],
  ["const timer = setInterval(look, 5).unref();", "setInterval"],
  ["const end = Date.now() + 5;", "Date.now"],
  ["constructor(now = Date.now) {", "Date.now"],
  ["const end = performance.now() + 5;", "performance.now"],
  ["const end = process.hrtime.bigint() + 5n;", "process.hrtime"],
  ["await run({ signal: AbortSignal.timeout(5) });", "AbortSignal.timeout"],
  ["const at = new Date().toISOString();", "new Date()"],
  ["const at = new Date;", "new Date()"],
  ["const delay = Math.random() * 5;", "Math.random"],
  ['import { randomUUID } from "node:crypto";', "randomUUID"],
  ["const uid = crypto.randomUUID();", "randomUUID"],
])("refuses %s", (line, name) => {
  const [first] = sourceFaults(file, `export {};\n${line}\n`);
  expect(first).toMatch(`${file}:2: ${name} is not a parameter`);
});

test.each([
  "const timer = this.#clock.setTimeout(wake, 5);",
  "const at = new Date(milliseconds).toISOString();",
  "const at = new Date(0);",
  " * planRunStrategy({ now: Date.now() });",
  "// Not Date.now: it goes back.",
  "const at = Date.parse(text);",
])("allows %s", (line) => {
  expect(sourceFaults(file, `${line}\n`)).toEqual([]);
});

test("the clock's own module, and a file that is listed with its reason, may use it", () => {
  const text = "setTimeout(wake, 5);\n";
  expect(sourceFaults("packages/api/src/clock/clock.ts", text)).toEqual([]);
  expect(sourceFaults("packages/cli/src/local/run-session.ts", text)).toEqual([]);
  expect(sourceFaults("packages/cli/src/local/other.ts", text)).toHaveLength(1);
});

test("refuses an exception that is no longer needed", () => {
  const faults = staleExceptions((name) => (name.includes("/cli/") ? "" : "Date.now();\n"));
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.every((fault) => fault.startsWith("packages/cli/"))).toBe(true);
});

test.each([
  "  } catch {\n    return 1;\n  }",
  "  await end.catch(() => {});",
  '  socket.on("error", () => undefined);',
])("refuses a swallowed failure: %s", (text) => {
  expect(sourceFaults(file, `{\n${text}\n`)).toHaveLength(1);
});

test.each([
  "  } catch {\n    // It has ended meanwhile.\n    return 1;\n  }",
  "  // Told above.\n  await end.catch(() => {});",
  '  } catch {\n    throw new Error("gone");\n  }',
  "  } catch (error) {\n    log.warn({ error });\n  }",
])("allows a failure that is logged or explained: %s", (text) => {
  expect(sourceFaults(file, `{\n${text}\n`)).toEqual([]);
});
