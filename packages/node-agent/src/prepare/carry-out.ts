import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { createHostDisk } from "@virtkit/domain-manager/disks";
import { hasErrno } from "@virtkit/host-primitives";
import { setDeviceFilter, setV1DeviceRules } from "@virtkit/host-primitives/device-rules";
import {
  makeDirectory,
  removeDirectory,
  type SafePath,
  type SafeRoot,
} from "@virtkit/host-primitives/safe-path";
import { setLabel } from "@virtkit/host-primitives/selinux";
import type { NetworkPlan } from "@virtkit/network-setup/plan";
import { NodeAgentError } from "../node-agent-error.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { bindFile, ifThere, unbindFile } from "./bind-file.ts";
import {
  closeServers,
  openServers,
  type SocketReceiver,
  unwireGuest,
  type WiringOptions,
  wireGuest,
} from "./guest-network.ts";
import { setLockLimit } from "./lock-limit.ts";
import { type OpenContainer, openContainer, openDiskContainer } from "./open-container.ts";
import { ownEntry } from "./own-entry.ts";
import type { PlanSettings } from "./plan-preparation.ts";
import type { PodJournal } from "./pod-journal.ts";
import type { PreparationStep } from "./preparation-step.ts";
import { rootPath } from "./sandbox-facts.ts";

/** What the steps work on. */
export interface StepContext {
  readonly sandbox: Sandbox;
  readonly journal: PodJournal;
  readonly wiring: WiringOptions;
}

/** What carrying out needs and undoing does not. */
export interface DoContext extends StepContext {
  readonly vmi: VirtualMachineInstance;
  readonly settings: PlanSettings;
  readonly handOver: SocketReceiver | undefined;
  /** Filled by the step that wires the network. */
  networks: readonly NetworkPlan[];
}

type StepOf<Kind extends PreparationStep["kind"]> = Extract<PreparationStep, { kind: Kind }>;

/** Carries out one step: checks, compares, and acts if there is something to do. Safe to repeat. */
export async function carryOut(step: PreparationStep, context: DoContext): Promise<void> {
  const { sandbox } = context;
  switch (step.kind) {
    case "directory":
      return makeDirectoryAt(sandbox.root, step);
    case "bind": {
      using container = containerOf(step, context);
      return await bindFile(step, container, sandbox);
    }
    case "network":
      context.networks = await wireGuest(
        context.vmi,
        sandbox,
        context.journal.network,
        context.wiring,
      );
      return;
    case "own":
      return ownEntry(sandbox.root, step);
    case "hostDisk":
      return await makeHostDisk(step, context);
    case "sockets":
      return await handSockets(context);
    default:
      return setAttribute(step, sandbox);
  }
}

function setAttribute(
  step: StepOf<"mode" | "label" | "devices" | "memlock">,
  sandbox: Sandbox,
): void {
  switch (step.kind) {
    case "mode": {
      using entry = sandbox.root.resolve(step.path, ["char", "block", "file", "socket"]);
      entry.chmod(step.mode);
      return;
    }
    case "label": {
      using entry = sandbox.root.resolve(step.path, "file");
      setLabel(entry, step.context);
      return;
    }
    case "devices":
      setRules(step, sandbox);
      return;
    case "memlock":
      setLockLimit(sandbox.process, BigInt(step.bytes));
  }
}

/**
 * Undoes one step, as far as it was done. What belongs only to the Pod goes with the Pod, and what the guest wrote
 * is never touched: such steps have nothing to undo.
 */
export async function takeBack(step: PreparationStep, context: StepContext): Promise<void> {
  const { sandbox, journal, wiring } = context;
  switch (step.kind) {
    case "bind":
      return await unbindFile(step.target, sandbox);
    case "directory":
      return removeDirectoryAt(sandbox.root, step.path);
    case "network":
      return await unwireGuest(sandbox, journal.network, wiring);
    default:
      return;
  }
}

function makeDirectoryAt(root: SafeRoot, { path, mode, owner }: StepOf<"directory">): void {
  using entry = root.locate(path);
  try {
    makeDirectory(entry.directory, entry.name, mode).close();
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
  }
  // The launcher may have created it first.
  using directory = root.resolve(path, "directory");
  if (owner) giveDirectory(directory, path, owner);
  else directory.chown(0, 0);
  directory.chmod(mode);
}

/** A directory with somebody else's files is not handed over. */
function giveDirectory(
  directory: SafePath,
  path: string,
  { uid, gid }: NonNullable<StepOf<"directory">["owner"]>,
): void {
  const status = directory.stat();
  if (status.uid === uid && status.gid === gid) return;
  if (directory.isMountRoot() || directory.list().length > 0) {
    const message = `${path} in the sandbox belongs to ${status.uid}:${status.gid} and is in use; remove it, or make ${uid}:${gid} its owner`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path });
  }
  directory.chown(uid, gid);
}

function removeDirectoryAt(root: SafeRoot, path: string): void {
  const found = ifThere(() => root.locate(path));
  if (!found) return;
  using entry = found;
  try {
    removeDirectory(entry.directory, entry.name);
  } catch (error) {
    if (!hasErrno(error, "ENOENT", "ENOTEMPTY", "EBUSY", "ENOTDIR")) throw error;
  }
}

function containerOf(
  { volume }: StepOf<"bind">,
  { vmi, sandbox, settings: { paths } }: DoContext,
): OpenContainer {
  const volumes = vmi.spec.volumes ?? [];
  const container =
    volume === undefined
      ? openContainer(sandbox.kernelBoot, sandbox, paths.kernelBootVolume)
      : openDiskContainer(
          sandbox,
          volume,
          paths.imageVolume(volumes.findIndex(({ name }) => name === volume)),
        );
  if (container) return container;
  const key = volume ?? "kernel-boot";
  const message = `the sandbox no longer has a container for "${key}"; start it again, or tear the Pod down`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: key });
}

async function makeHostDisk(
  { disk, bytes }: StepOf<"hostDisk">,
  { sandbox, settings }: DoContext,
): Promise<void> {
  const { config, owner } = settings;
  await createHostDisk(
    { ...disk, size: BigInt(bytes) },
    {
      root: rootPath(sandbox.root),
      owner,
      tolerancePercent: config.pvcTolerateLessSpaceUpToPercent,
      reserve: BigInt(config.minimumReservePvcBytes),
    },
  );
}

function setRules({ rules }: StepOf<"devices">, { cgroup }: Sandbox): void {
  if (cgroup?.version === 1) setV1DeviceRules(cgroup, rules);
  else if (cgroup) setDeviceFilter(cgroup, rules);
}

async function handSockets({ sandbox, networks, handOver }: DoContext): Promise<void> {
  if (!handOver) return;
  // A server that already runs has the sockets: they could not be opened a second time.
  const without = await handOver.served();
  const served = await openServers(sandbox, networks, without);
  try {
    if (served.length > 0) await handOver.take(served);
  } finally {
    closeServers(served);
  }
}
