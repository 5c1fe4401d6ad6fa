import { constants, openSync } from "node:fs";
import { names } from "@virtkit/api/names";
import { OwnedFd } from "@virtkit/host-primitives";
import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { SafeRoot } from "@virtkit/host-primitives/safe-path";
import { type ContainerRoot, openSandbox, type Sandbox } from "@virtkit/node-agent/sandbox";
import { localLauncher } from "./local-sandbox.ts";
import { gone, type MachineRecord } from "./machine-record.ts";

/** The machine's sandbox as the node agent works on it. Throws `AGENT_SANDBOX_GONE` where it has ended. */
export function openMachine(
  stateDirectory: string,
  record: Pick<MachineRecord, "name" | "podUid" | "vmi">,
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
    ...imageRoots(pid, record),
  });
}

/** Images of container disks and kernels, which the sandbox has as volumes of its own. */
function imageRoots(
  pid: number,
  { vmi }: Pick<MachineRecord, "vmi">,
): { containers: Record<string, ContainerRoot>; kernelBoot?: ContainerRoot } {
  const { imageVolumes, kernelBoot } = names().directories;
  using process = ProcessHandle.open(pid);
  const at = (path: string): ContainerRoot => ({
    root: rootAt(process, path),
    mounts: process.openNamespace("mount"),
  });
  const containers: Record<string, ContainerRoot> = {};
  for (const [index, { name, containerDisk }] of (vmi.spec.volumes ?? []).entries()) {
    if (containerDisk) containers[name] = at(`${imageVolumes}/disk_${index}`);
  }
  const hasKernel = vmi.spec.domain.firmware?.kernelBoot?.container !== undefined;
  return { containers, ...(hasKernel ? { kernelBoot: at(kernelBoot) } : {}) };
}

/** Not among Node's constants: a descriptor that only stands for the directory. */
const pathOnly = 0o10000000;

function rootAt(process: ProcessHandle, path: string): SafeRoot {
  using root = process.openRoot();
  using directory = root.resolve(path, "directory");
  // The link of our own descriptor: nobody else can put something else there.
  const own = `/proc/self/fd/${directory.fd}`;
  return new SafeRoot(new OwnedFd(openSync(own, pathOnly | constants.O_DIRECTORY), path));
}
