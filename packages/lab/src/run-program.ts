import { execFile } from "node:child_process";
import { LabError } from "./lab-error.ts";

/** How {@link runProgram} runs a program. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** After this many milliseconds the program is killed; 60 seconds by default. */
  readonly timeout?: number;
  /** What the program reads from its stdin; nothing by default. */
  readonly input?: string;
}

/**
 * Runs a program to its end and returns what it wrote to stdout.
 *
 * Fails with what it wrote to stderr if it exits with anything but 0 or takes too long.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, timeout = 60_000, input = "" }: RunOptions = {},
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      {
        ...(cwd === undefined ? {} : { cwd }),
        env: { ...process.env, LC_ALL: "C", ...env },
        timeout,
        killSignal: "SIGKILL",
        maxBuffer: 64 << 20,
      },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const line = [program, ...args].join(" ");
        const said = stderr.trim() || stdout.trim() || error.message;
        reject(new LabError("LAB_PROGRAM_FAILED", `"${line}" failed: ${said}`, { cause: error }));
      },
    );
    // A program that ends before it has read everything shows by its exit code whether that was
    // wrong.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
