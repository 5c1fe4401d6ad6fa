import { spawn } from "node:child_process";

/**
 * Runs a command to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, input?: string }} options
 * @returns {Promise<{ code: number | null, output: string, stdout: string }>} output: both streams
 */
export function runCommand(command, args, { cwd, input }) {
  return new Promise((resolve, reject) => {
    // The tests' own NODE_ENV, loaders and colours are not the command's business.
    const { NODE_OPTIONS: _, NODE_ENV: __, VITEST: ___, ...env } = process.env;
    const child = spawn(command, args, { cwd, env: { ...env, FORCE_COLOR: "0" }, stdio: "pipe" });
    let output = "";
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output, stdout }));
    // A command that ends without reading its input is judged by its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
  });
}
