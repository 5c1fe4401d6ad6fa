import { spawn } from "node:child_process";
import { planChild } from "@virtkit/host-primitives/children";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** The result of a tool. */
export interface ToolResult {
  readonly code: number | undefined;
  /** The signal that ended it; `SIGKILL` if it took too long. */
  readonly signal?: NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a tool runs. */
export interface ToolOptions {
  /** What it reads on its standard input. */
  readonly input?: string;
  /** Milliseconds after which it is killed; 20 seconds by default. */
  readonly timeout?: number;
  /** `cgroup.procs` files of cgroups that it joins first; if they are gone, it does nothing. */
  readonly cgroups?: readonly string[];
}

const searchPath = "/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs a tool of the host to its end, with a plain environment. Never rejects: a missing tool has
 * no code.
 */
export async function tryTool(
  tool: string,
  args: readonly string[],
  { input = "", timeout = 20_000, cgroups = [] }: ToolOptions = {},
): Promise<ToolResult> {
  const plan =
    cgroups.length === 0
      ? { command: tool, args }
      : planChild({ command: tool, args, cgroups, noNewPrivileges: false });
  return await new Promise((resolve) => {
    const path = [process.env["PATH"], searchPath].filter(Boolean).join(":");
    const child = spawn(plan.command, [...plan.args], {
      // A session of its own: Ctrl-C is for us, and we may be cleaning up.
      detached: true,
      env: { PATH: path, LC_ALL: "C" },
      timeout,
      killSignal: "SIGKILL",
    });
    const out = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      out.stdout += String(chunk);
    });
    child.stderr.on("data", (chunk) => {
      out.stderr += String(chunk);
    });
    // A tool that ends without reading is not a failure of the pipe.
    child.stdin.on("error", () => {});
    child.on("error", (error) => resolve({ ...out, code: undefined, stderr: error.message }));
    child.on("close", (code, signal) =>
      resolve({ ...out, code: code ?? undefined, ...(signal ? { signal } : {}) }),
    );
    child.stdin.end(input);
  });
}

/** Runs a tool and returns its stdout; throws its output if it failed. */
export async function runTool(
  tool: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await tryTool(tool, args, options);
  if (code === 0) return stdout;
  const said = stderr.trim().slice(0, 500) || `it ended with ${code ?? "a signal"}`;
  const message = `"${[tool, ...args].join(" ")}" failed: ${said}; "virtkit doctor" lists what this host lacks`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: tool });
}
