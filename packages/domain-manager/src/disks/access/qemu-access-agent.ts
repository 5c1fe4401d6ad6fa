import type { GuestAgent } from "../../agent/guest-agent.ts";
import { DiskError } from "../disk-error.ts";
import type { AccessAgent } from "./access-agent.ts";

const largestFile = 1 << 20;
const readSize = 48 << 10;

type Agent = Pick<GuestAgent, "ping" | "exec" | "command">;

/**
 * The {@link AccessAgent} of a guest with qemu-guest-agent. The guest may be hostile: it accepts at
 * most 1 MiB of a file. A program may take 10 s, as in KubeVirt.
 */
export function qemuAccessAgent(agent: Agent): AccessAgent {
  return {
    ping: async () => await agent.ping(),
    setAuthorizedKeys: async (username, keys) =>
      await agent.command(
        "guest-ssh-add-authorized-keys",
        { username, keys, reset: true },
        () => {},
      ),
    setUserPassword: async (username, password) => {
      const encoded = Buffer.from(password).toString("base64");
      const args = { username, password: encoded, crypted: false };
      await agent.command("guest-set-user-password", args, () => {});
    },
    exec: async (program, args) => {
      const { exitCode, stdout } = await agent.exec(program, { args });
      if (exitCode === 0) return stdout;
      throw new DiskError("DISK_AGENT", `${program} ended in the guest with exit code ${exitCode}`);
    },
    readFile: async (path) => await readGuestFile(agent, path),
    writeFile: async (path, content) =>
      await withFile(agent, path, "w", async (handle) => {
        const encoded = Buffer.from(content).toString("base64");
        await agent.command("guest-file-write", { handle, "buf-b64": encoded }, () => {});
      }),
  };
}

async function readGuestFile(agent: Agent, path: string): Promise<string | undefined> {
  try {
    return await withFile(agent, path, "r", async (handle) => await readToEnd(agent, path, handle));
  } catch (error) {
    // The agent has no code for it.
    if (error instanceof Error && error.message.includes("No such file or directory"))
      return undefined;
    throw error;
  }
}

async function readToEnd(agent: Agent, path: string, handle: number): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const { part, end } = await agent.command(
      "guest-file-read",
      { handle, count: readSize },
      (reply) => ({ part: reply.field("buf-b64").bytes(), end: reply.field("eof").flag() }),
    );
    length += part.length;
    if (length > largestFile)
      throw new DiskError("DISK_TOO_LARGE", `${path} in the guest: over 1 MiB`);
    parts.push(part);
    if (end || part.length === 0) return Buffer.concat(parts).toString("utf8");
  }
}

async function withFile<T>(
  agent: Agent,
  path: string,
  mode: "r" | "w",
  use: (handle: number) => Promise<T>,
): Promise<T> {
  const handle = await agent.command("guest-file-open", { path, mode }, (reply) => reply.count());
  try {
    return await use(handle);
  } finally {
    await agent.command("guest-file-close", { handle }, () => {});
  }
}
