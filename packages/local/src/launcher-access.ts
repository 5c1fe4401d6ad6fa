import { spawnSync } from "node:child_process";
import type { SafePath } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { launcherUid } from "./pod-volumes.ts";

const timeout = 10_000;

/**
 * Whether the launcher's user may read, or read and write, an open file. The kernel is asked, as that user
 * and by the handle: it knows of access control lists and of read-only file systems.
 */
export function launcherCan(file: SafePath, access: "read" | "read-write"): boolean {
  const ask = "test -r /proc/self/fd/3";
  const script = access === "read" ? ask : `${ask} && test -w /proc/self/fd/3`;
  const user = [`--reuid=${launcherUid}`, `--regid=${launcherUid}`, "--clear-groups"];
  const { status, error } = spawnSync(
    "setpriv",
    [...user, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--", "sh", "-c", script],
    {
      stdio: ["ignore", "ignore", "ignore", file.fd],
      cwd: "/",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      timeout,
    },
  );
  if (status === 0 || status === 1) return status === 0;
  const message = `whether uid ${launcherUid} may use ${file.description} cannot be found out: setpriv ${error?.message ?? `ended with ${status}`}; "virtkit doctor" says what this host lacks`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: file.description, cause: error });
}
