import { setFlagsFromString } from "node:v8";

/**
 * Keeps V8 from optimizing code until it has run very often. Call it first in a program that runs controllers: most of
 * their functions run a few thousand times an hour, and to compile them takes a quarter of the CPU for the first few
 * hundred VMIs, and 30 MB. Changes nothing except in Node 20: later versions were not measured.
 *
 * @example
 * compileLate();
 * await createControllers({ client, config: () => ({ cluster, profile }) }).run({ signal });
 */
export function compileLate(): void {
  for (const flag of lateFlags(process.versions.v8)) setFlagsFromString(flag);
}

/**
 * The flags for a version of V8. Only V8 11, that of Node 20, was measured: each time a function has executed 66 KiB of
 * its bytecode, it considers optimizing it. Later versions have another compiler in between, and other flags.
 */
export function lateFlags(v8: string): readonly string[] {
  return v8.startsWith("11.") ? ["--interrupt-budget=1000000"] : [];
}
