import { setTimeout as delay } from "node:timers/promises";
import { DiskError } from "../disk-error.ts";
import type { AccessAgent } from "./access-agent.ts";

/** Sends a command to a guest's agent and returns what stands under `return` in its reply. */
export type AgentCommand = (execute: string, args?: Readonly<object>) => Promise<unknown>;

/** Options of {@link qemuAccessAgent}. */
export interface QemuAgentOptions {
  /** How long a program in the guest may take, in milliseconds. Default 10000, as KubeVirt. */
  readonly execTimeout?: number;
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

const pollInterval = 50;
const largestReply = 1 << 20;
const readSize = 48 << 10;

/**
 * The {@link AccessAgent} of a guest with qemu-guest-agent. The guest may be hostile: replies are
 * checked, and at most 1 MiB of output or file is taken.
 */
export function qemuAccessAgent(
  command: AgentCommand,
  { execTimeout = 10_000, sleep = delay }: QemuAgentOptions = {},
): AccessAgent {
  return {
    ping: async () => void (await command("guest-ping")),
    setAuthorizedKeys: async (username, keys) =>
      void (await command("guest-ssh-add-authorized-keys", { username, keys, reset: true })),
    setUserPassword: async (username, password) => {
      const encoded = Buffer.from(password).toString("base64");
      await command("guest-set-user-password", { username, password: encoded, crypted: false });
    },
    exec: async (path, arg) => {
      const reply = await command("guest-exec", { path, arg, "capture-output": true });
      const pid = numberIn(reply, "pid");
      for (let waited = 0; waited <= execTimeout; waited += pollInterval) {
        const status = fieldsOf(await command("guest-exec-status", { pid }));
        if (status["exited"] === true) return outputOf(path, status);
        await sleep(pollInterval);
      }
      throw new DiskError("DISK_AGENT", `${path} has not ended in the guest in ${execTimeout} ms`);
    },
    readFile: async (path) => await readGuestFile(command, path),
    writeFile: async (path, content) =>
      await withFile(command, path, "w", async (handle) => {
        const encoded = Buffer.from(content).toString("base64");
        await command("guest-file-write", { handle, "buf-b64": encoded });
      }),
  };
}

function outputOf(program: string, status: Readonly<Record<string, unknown>>): string {
  if (status["exitcode"] !== 0) {
    const how =
      typeof status["exitcode"] === "number" ? `exit code ${status["exitcode"]}` : "a signal";
    throw new DiskError("DISK_AGENT", `${program} ended in the guest with ${how}`);
  }
  return decode(status["out-data"] ?? "").toString("utf8");
}

async function readGuestFile(command: AgentCommand, path: string): Promise<string | undefined> {
  try {
    return await withFile(command, path, "r", async (handle) => {
      const parts: Buffer[] = [];
      let length = 0;
      for (;;) {
        const reply = fieldsOf(await command("guest-file-read", { handle, count: readSize }));
        const part = decode(reply["buf-b64"] ?? "");
        length += part.length;
        if (length > largestReply)
          throw new DiskError("DISK_TOO_LARGE", `${path} in the guest: over 1 MiB`);
        parts.push(part);
        if (reply["eof"] === true || part.length === 0)
          return Buffer.concat(parts).toString("utf8");
      }
    });
  } catch (error) {
    // The agent has no code for it.
    if (error instanceof Error && error.message.includes("No such file or directory"))
      return undefined;
    throw error;
  }
}

async function withFile<T>(
  command: AgentCommand,
  path: string,
  mode: "r" | "w",
  use: (handle: number) => Promise<T>,
): Promise<T> {
  const handle = await command("guest-file-open", { path, mode });
  if (typeof handle !== "number") throw badReply();
  try {
    return await use(handle);
  } finally {
    await command("guest-file-close", { handle });
  }
}

function decode(text: unknown): Buffer {
  if (typeof text !== "string" || text.length > 2 * largestReply) throw badReply();
  return Buffer.from(text, "base64");
}

function numberIn(reply: unknown, field: string): number {
  const value = fieldsOf(reply)[field];
  if (typeof value === "number") return value;
  throw badReply();
}

function fieldsOf(reply: unknown): Readonly<Record<string, unknown>> {
  if (typeof reply === "object" && reply !== null) return reply as Record<string, unknown>;
  throw badReply();
}

function badReply(): DiskError {
  return new DiskError(
    "DISK_AGENT",
    "the guest's agent answered something else than was asked for",
  );
}
