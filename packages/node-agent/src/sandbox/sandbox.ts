import { isHostError } from "@virtkit/host-primitives";
import { type Cgroup, openCgroup } from "@virtkit/host-primitives/cgroups";
import type { Namespace } from "@virtkit/host-primitives/namespaces";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import type { SafeRoot } from "@virtkit/host-primitives/safe-path";
import { checkUid } from "../check-uid.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { hasExited } from "./process-identity.ts";

/** The root file system of a container with a disk or a kernel. */
export interface ContainerRoot {
  readonly root: SafeRoot;
  /** The mount namespace that the root is in. Default: this process's. */
  readonly mounts?: Namespace;
}

/**
 * Where a guest runs: a Pod's compute container, or its replacement. Everything in it is reached through open
 * handles, never by a path or a pid that may refer to something else by now.
 */
export interface Sandbox {
  /** Key of everything that is stored about it. */
  readonly podUid: string;
  /** Its first process: when it has ended, the whole sandbox has. */
  readonly process: ProcessHandle;
  /** Root as that process sees it. */
  readonly root: SafeRoot;
  readonly mounts: Namespace;
  readonly network: Namespace;
  /** The cgroup whose access to devices the node agent limits. Absent if a container runtime does that. */
  readonly cgroup?: Cgroup;
  /**
   * Roots of container disks, by volume name. Those that the sandbox has as image volumes are found in it, and need
   * not be here.
   */
  readonly containers: Readonly<Record<string, ContainerRoot>>;
  /** Root of the container with kernel and initial RAM disk, unless that is an image volume. */
  readonly kernelBoot?: ContainerRoot;
}

/** What {@link openSandbox} opens. */
export interface SandboxPlace {
  readonly podUid: string;
  /** Pid of the sandbox's first process, in this process's pid namespace. */
  readonly pid: number;
  readonly cgroup?: Parameters<typeof openCgroup>[0];
  /** Taken over: closed with the sandbox. */
  readonly containers?: Readonly<Record<string, ContainerRoot>>;
  readonly kernelBoot?: ContainerRoot;
}

/**
 * Opens a sandbox by the pid of its first process. Throws `AGENT_SANDBOX_GONE` if the process no longer
 * exists; then nothing stays open.
 *
 * @example
 * using sandbox = openSandbox({ podUid, pid: launcher.pid });
 * await prepare(vmi, sandbox, { stateDirectory: "/var/lib/virtkit" });
 */
export function openSandbox(place: SandboxPlace): Sandbox & Disposable {
  const { podUid, pid, containers = {}, kernelBoot } = place;
  checkUid(podUid, "podUid");
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(handle: T): T => {
    opened.push(handle);
    return handle;
  };
  const close = (): void => {
    for (const handle of opened.splice(0).reverse()) handle.close();
  };
  try {
    const process = keep(ProcessHandle.open(pid));
    assertRunning({ podUid, process });
    for (const container of [...Object.values(containers), ...(kernelBoot ? [kernelBoot] : [])]) {
      keep(container.root);
      if (container.mounts) keep(container.mounts);
    }
    return {
      podUid,
      process,
      root: keep(process.openRoot()),
      mounts: keep(process.openNamespace("mount")),
      network: keep(process.openNamespace("network")),
      ...(place.cgroup ? { cgroup: keep(openCgroup(place.cgroup)) } : {}),
      containers,
      ...(kernelBoot ? { kernelBoot } : {}),
      [Symbol.dispose]: close,
    };
  } catch (error) {
    close();
    throw isHostError(error) && error.code === "HOST_PROCESS_GONE"
      ? gone(podUid, pid, error)
      : error;
  }
}

/** Throws `AGENT_SANDBOX_GONE` if the sandbox's first process has exited. */
export function assertRunning({ podUid, process }: Pick<Sandbox, "podUid" | "process">): void {
  if (hasExited(process)) throw gone(podUid, process.pid);
}

function gone(podUid: string, pid: number, cause?: unknown): NodeAgentError {
  const message = `process ${pid} of Pod ${podUid} has ended; tear its preparation down, and start a new Pod`;
  return new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: "pid", cause });
}
