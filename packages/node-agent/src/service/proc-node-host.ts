import { clusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import type { SyncRequest } from "@virtkit/domain-manager";
import { isHostError } from "@virtkit/host-primitives";
import type { ProcessHandle } from "@virtkit/host-primitives/process";
import { selinuxState } from "@virtkit/host-primitives/selinux";
import type { LauncherClient } from "@virtkit/launcher/client";
import { openAttachment } from "../hotplug/attached-volume.ts";
import type { WantedPlug } from "../hotplug/hotplug-plan.ts";
import { HotplugVolumes, type PlugSubject, unplugAll } from "../hotplug/hotplug-volumes.ts";
import type { WayIn, WayInOptions, WayOut, WayOutOptions } from "../migration/migration-way.ts";
import { removeTlsFiles } from "../migration/sandbox-tls.ts";
import { openWayIn, openWayOut } from "../migration/sandbox-way.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { prepare } from "../prepare/prepare.ts";
import { teardown } from "../prepare/teardown.ts";
import { guestRequest, withDefaults } from "../run/guest-request.ts";
import { reachLauncher, socketReceiver } from "../run/reach-launcher.ts";
import {
  hasEnded,
  hasExited,
  identityOf,
  type ProcessIdentity,
} from "../sandbox/process-identity.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { findContainer } from "./find-container.ts";
import type { ContainerName, FoundLauncher, GuestClient, NodeHost } from "./node-host.ts";

/** Options of {@link procNodeHost}. */
export interface ProcNodeHostOptions {
  readonly stateDirectory: string;
  /** The current configuration of the cluster and facts about the node. */
  environment(): Environment;
  /** Opens the first process of a container. Default: by its cgroup. */
  findProcess?(container: ContainerName): ProcessHandle | undefined;
}

/** Milliseconds for one attempt to reach a launcher: it may have just been started. */
const reachTimeout = 5_000;

/** The node that this process runs on, with the pid namespace of the host. */
export function procNodeHost(options: ProcNodeHostOptions): NodeHost {
  const { stateDirectory } = options;
  return {
    find: (container) => find(container, options),
    hasEnded: (process) => hasEnded(process),
    cleanUp: async (podUid, launcher, { signal }) => {
      await unplugAll(podUid, launcher?.sandbox, { stateDirectory });
      await teardown(podUid, { stateDirectory, sandbox: launcher?.sandbox, signal });
    },
  };
}

function find(container: ContainerName, options: ProcNodeHostOptions): FoundLauncher | undefined {
  const process = firstProcess(container, options);
  if (!process) return undefined;
  try {
    const sandbox = openSandbox({ podUid: container.podUid, pid: process.pid });
    // Opened by pid: check that it is the process that was inspected.
    const identity = identityOf(process);
    if (JSON.stringify(identityOf(sandbox.process)) === JSON.stringify(identity)) {
      return new SandboxLauncher(sandbox, identity, options);
    }
    sandbox[Symbol.dispose]();
    return undefined;
  } catch (error) {
    // It has ended meanwhile; the record decides whether that is so.
    if (isHostError(error) && error.code === "HOST_PROCESS_GONE") return undefined;
    throw error;
  } finally {
    process.close();
  }
}

function firstProcess(
  container: ContainerName,
  { findProcess = findContainer }: ProcNodeHostOptions,
): ProcessHandle | undefined {
  return findProcess(container);
}

class SandboxLauncher implements FoundLauncher {
  readonly sandbox: Sandbox & Disposable;
  readonly process: ProcessIdentity;
  readonly selinuxContext: string;
  readonly #options: ProcNodeHostOptions;
  readonly #volumes: HotplugVolumes;

  constructor(
    sandbox: Sandbox & Disposable,
    process: ProcessIdentity,
    options: ProcNodeHostOptions,
  ) {
    this.sandbox = sandbox;
    this.process = process;
    this.#options = options;
    this.#volumes = new HotplugVolumes(sandbox, options);
    this.selinuxContext = selinuxContextOf(sandbox);
  }

  hasEnded(): boolean {
    return hasExited(this.sandbox.process);
  }

  async connect(
    vmi: VirtualMachineInstance,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<GuestClient> {
    const { config = clusterConfig() } = this.#options.environment();
    const { names } = config;
    return await reachLauncher(vmi, this.sandbox, { names, readyTimeout: reachTimeout, signal });
  }

  async prepare(
    given: VirtualMachineInstance,
    client: GuestClient,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Omit<SyncRequest, "mayRun">> {
    const environment = this.#options.environment();
    const { config = clusterConfig() } = environment;
    const { names } = config;
    const vmi = withDefaults(given, environment);
    const preparation = await prepare(vmi, this.sandbox, {
      stateDirectory: this.#options.stateDirectory,
      config,
      signal,
      handOver: socketReceiver(vmi, this.sandbox, client as LauncherClient, { names, signal }),
    });
    return guestRequest(preparation, environment);
  }

  async openWayIn(options: WayInOptions): Promise<WayIn> {
    return await openWayIn(this.sandbox, this.#names, options);
  }

  async openWayOut(options: WayOutOptions): Promise<WayOut> {
    return await openWayOut(this.sandbox, this.#names, options);
  }

  clearWay(): void {
    removeTlsFiles(this.sandbox, this.#names);
  }

  get #names(): Names {
    return (this.#options.environment().config ?? clusterConfig()).names;
  }

  fileSizes(paths: readonly string[]): Readonly<Record<string, number>> {
    const sizes: Record<string, number> = {};
    for (const path of paths) {
      const size = this.#fileSize(path);
      if (size !== undefined) sizes[path] = size;
    }
    return sizes;
  }

  #fileSize(path: string): number | undefined {
    try {
      using file = this.sandbox.root.resolve(path, "file");
      return Number(file.stat().size);
    } catch (error) {
      // Not created yet, or not a regular file: then its size is not reported.
      if (isHostError(error)) return undefined;
      throw error;
    }
  }

  pluggedVolumes(): readonly string[] {
    return this.#volumes.plugged();
  }

  interruptedVolumes(): readonly string[] {
    return this.#volumes.interrupted();
  }

  async plugVolume(
    wanted: WantedPlug,
    from: ContainerName,
    vmi: VirtualMachineInstance,
  ): Promise<void> {
    const process = firstProcess(from, this.#options);
    if (!process) {
      const message = `volume ${wanted.volume}: no process of container ${from.containerID} of its attachment Pod is visible on this node`;
      throw new NodeAgentError("AGENT_SANDBOX", message, { path: wanted.volume });
    }
    try {
      using attachment = openAttachment(process);
      await this.#volumes.plug(wanted, attachment, this.#subject(vmi));
    } finally {
      process.close();
    }
  }

  async unplugVolume(volume: string, vmi: VirtualMachineInstance): Promise<void> {
    await this.#volumes.unplug(volume, this.#subject(vmi));
  }

  #subject(vmi: VirtualMachineInstance): PlugSubject {
    const { config = clusterConfig() } = this.#options.environment();
    return { vmi, config };
  }

  [Symbol.dispose](): void {
    this.sandbox[Symbol.dispose]();
  }
}

/** As the kernel reports it for the launcher's first process. */
function selinuxContextOf({ process }: Sandbox): string {
  if (selinuxState() === "disabled") return "none";
  return process.read("attr/current").replaceAll("\0", "").trim();
}
