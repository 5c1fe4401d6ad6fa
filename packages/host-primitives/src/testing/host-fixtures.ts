import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChildOptions, startChild } from "../children/start-child.ts";

/** A name that is unique among test runs on this host; short enough for an interface. */
export function uniqueName(part: string): string {
  return `vk${process.pid.toString(36)}${part}`;
}

/** A temporary directory that is removed after the block. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "virtkit-host-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Waits for a child and collects what it printed. */
export async function finish(child: ChildProcess): Promise<Outcome> {
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    output += String(chunk);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, output: output.trim() };
}

/** Starts a child with the package's own functions and waits for it. */
export function run(options: ChildOptions): Promise<Outcome> {
  return finish(startChild({ stdio: ["ignore", "pipe", "pipe"], ...options }));
}

/** Runs a shell command with these options. */
export function shell(script: string, options: Partial<ChildOptions> = {}): Promise<Outcome> {
  return run({ command: "sh", args: ["-c", script], ...options });
}

/** A process that runs until the end of the block; ready when it has printed its first line. */
export async function background(
  command: string,
  args: readonly string[],
): Promise<AsyncDisposable & { readonly pid: number }> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}`)));
    child.once("error", reject);
  });
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.removeAllListeners("exit");
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** An attacker: a process that runs this loop body until the block ends. */
export function attacker(body: string): Promise<AsyncDisposable & { readonly pid: number }> {
  const script = `const fs = require("node:fs"); process.stdout.write("ready\\n");
    for (let round = 0; ; round++) { try { ${body} } catch {} }`;
  return background(process.execPath, ["-e", script]);
}

/** Number of descriptors that this process has open. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
