import { spawn } from "node:child_process";
import { killDescendants } from "../kill-tree.mjs";

/** Ends a command that hangs before the test that waits for it times out. */
const maxMilliseconds = 240_000;

/**
 * Runs a command to its end; one that hangs is killed with everything that it has started.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, input?: string }} options
 * @returns {Promise<{ code: number | null, output: string, stdout: string }>} output: both streams
 */
export function runCommand(command, args, { cwd, input }) {
  return new Promise((resolve, reject) => {
    // NODE_ENV, loaders and colours of the tests do not apply to the command.
    const { NODE_OPTIONS: _, NODE_ENV: __, VITEST: ___, ...env } = process.env;
    const child = spawn(command, args, { cwd, env: { ...env, FORCE_COLOR: "0" }, stdio: "pipe" });
    let output = "";
    let stdout = "";
    const timer = setTimeout(() => {
      output += `\nkilled after ${maxMilliseconds / 1000} s`;
      if (child.pid !== undefined) killDescendants(child.pid);
      child.kill("SIGKILL");
    }, maxMilliseconds);
    child.stdout.on("data", (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output, stdout });
    });
    // A command that ends without reading its input is judged by its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
  });
}
