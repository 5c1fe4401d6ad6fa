import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import { openSandbox, type Sandbox } from "@virtkit/node-agent/sandbox";
import { localLauncher } from "./local-sandbox.ts";
import { gone, type VmiRecord } from "./vmi-record.ts";

/** The VMI's sandbox as the node agent works on it. Throws `AGENT_SANDBOX_GONE` if it has ended. */
export function openVmiSandbox(
  stateDirectory: string,
  record: Pick<VmiRecord, "name" | "podUid">,
): Sandbox & Disposable {
  const pid = localLauncher(stateDirectory, record.podUid);
  if (pid === undefined) throw gone(record);
  const { controllers, unified = "" } = ownCgroupLayout();
  const path = `/virtkit/${record.podUid}`;
  const devices = controllers["devices"];
  return openSandbox({
    podUid: record.podUid,
    pid,
    cgroup:
      devices === undefined
        ? { version: 2, root: unified, path }
        : { version: 1, root: devices, path },
  });
}
