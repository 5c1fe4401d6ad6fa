import { spawnSync } from "node:child_process";
import type { SafePath } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { launcherUid } from "./pod-volumes.ts";

const timeout = 10_000;

/** What the launcher's user may do with a file. */
export interface LauncherAccess {
  readonly readable: boolean;
  readonly writable: boolean;
}

/**
 * What the launcher's user may do with an open file. The kernel is asked, as that user and by the
 * handle: it knows access control lists and read-only file systems. Folders on the way do not
 * count, because a mount does not pass them. Changes nothing. Needs root.
 */
export function launcherAccess(file: SafePath): LauncherAccess {
  const script = "test -r /proc/self/fd/3 && echo r; test -w /proc/self/fd/3 && echo w; exit 0";
  const user = [`--reuid=${launcherUid}`, `--regid=${launcherUid}`, "--clear-groups"];
  const { status, error, stdout } = spawnSync(
    "setpriv",
    [...user, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--", "sh", "-c", script],
    {
      stdio: ["ignore", "pipe", "ignore", file.fd],
      cwd: "/",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      encoding: "utf8",
      timeout,
    },
  );
  if (status === 0) return { readable: stdout.includes("r"), writable: stdout.includes("w") };
  const message = `whether uid ${launcherUid} may use ${file.description} cannot be determined: setpriv ${error?.message ?? `ended with ${status}`}; "virtkit doctor" lists what this host lacks`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: file.description, cause: error });
}
