import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CpioEntry } from "./cpio-archive.ts";
import { LabError } from "./lab-error.ts";
import { runProgram } from "./run-program.ts";

/** The libraries that a program of this host is linked with, at the places where a guest's loader looks. */
export async function sharedLibraries(program: string): Promise<CpioEntry[]> {
  const lines = (await runProgram("ldd", [program])).split("\n");
  const missing = lines.find((line) => line.includes("not found"));
  if (missing) throw new LabError("LAB_GUEST_BUILD", `${program} needs ${missing.trim()}`);
  const paths = lines.flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  return await Promise.all(
    paths.map(async (path) => ({
      path: path.startsWith("/lib64/") ? path.slice(1) : `lib/x86_64-linux-gnu/${basename(path)}`,
      kind: "file" as const,
      data: await readFile(path),
    })),
  );
}
