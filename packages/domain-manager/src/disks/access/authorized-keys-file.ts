import { DiskError } from "../disk-error.ts";
import type { AccessAgent } from "./access-agent.ts";

type FileAgent = Pick<AccessAgent, "exec" | "readFile" | "writeFile">;

/**
 * Sets the user's keys by writing `~/.ssh/authorized_keys`, for agents that cannot do it
 * themselves. Writes nothing if the file is already right. Needs `getent`, `mkdir`, `chown` and
 * `chmod` in the guest.
 *
 * @throws DiskError if the guest does not know the user's home; whatever the agent throws.
 */
export async function writeAuthorizedKeys(
  agent: FileAgent,
  user: string,
  keys: readonly string[],
): Promise<void> {
  const { home, owner } = parsePasswdEntry(await agent.exec("getent", ["passwd", user]), user);
  const directory = `${home}/.ssh`;
  const path = `${directory}/authorized_keys`;
  const wanted = keys.join("\n");
  const current = await agent.readFile(path);
  if (current === wanted) return;

  await agent.exec("mkdir", ["-p", directory]);
  await own(agent, directory, owner, "700");
  // Before, so that it can be written; after, so that nobody else reads a new file.
  if (current !== undefined) await own(agent, path, owner, "600");
  await agent.writeFile(path, wanted);
  if (current === undefined) await own(agent, path, owner, "600");
}

async function own(agent: FileAgent, path: string, owner: string, mode: string): Promise<void> {
  await agent.exec("chown", [owner, path]);
  await agent.exec("chmod", [mode, path]);
}

/** Home and owner in a line of the guest's user database. */
function parsePasswdEntry(line: string, user: string): { home: string; owner: string } {
  const [, , uid = "", gid = "", , home = ""] = line.trim().split(":");
  if (/^\d{1,10}$/.test(uid) && /^\d{1,10}$/.test(gid) && /^\/[^\p{Cc}]{0,1000}$/u.test(home)) {
    return { home: home === "/" ? "" : home, owner: `${uid}:${gid}` };
  }
  throw new DiskError("DISK_AGENT", `the guest does not report where the home of ${user} is`);
}
