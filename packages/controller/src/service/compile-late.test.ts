import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { lateFlags } from "./compile-late.ts";

const flags = lateFlags(process.versions.v8);

/** Whether V8 optimizes a function that is called a few thousand times, after the flags were set. */
async function isOptimized(set: readonly string[]): Promise<boolean> {
  const program = `
    import { setFlagsFromString } from "node:v8";
    for (const flag of ${JSON.stringify(set)}) setFlagsFromString(flag);
    function hot(list) { let sum = 0; for (const item of list) sum += item; return sum; }
    for (let n = 0; n < 5_000; n++) hot([n, 1, 2]);`;
  const args = ["--trace-opt", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return /\[marking .*JSFunction hot /.test(stdout);
}

test.runIf(flags.length > 0)(
  "a function that runs a few thousand times is not optimized; control: by default it is",
  async () => {
    expect([await isOptimized(flags), await isOptimized([])]).toEqual([false, true]);
  },
);

test("a version of V8 that was not measured keeps its defaults", () => {
  expect(lateFlags("11.3.244.8-node.40")).toEqual(["--interrupt-budget=1000000"]);
  expect(lateFlags("12.4.254.21-node.33")).toEqual([]);
});
