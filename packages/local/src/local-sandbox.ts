import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type Clock, until } from "@virtkit/api/clock";
import { planChild } from "@virtkit/host-primitives/children";
import type { Container, Pod } from "@virtkit/launcher-pod";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { containerEnvironment, expandCommand } from "./container-environment.ts";
import { restoreForwarding, turnOnForwarding } from "./host-forwarding.ts";
import {
  createLocalCgroup,
  firstProcess,
  localProcesses,
  removeLocalCgroup,
} from "./local-cgroup.ts";
import type { LocalLimits } from "./local-limits.ts";
import { type LocalNames, localNames } from "./local-names.ts";
import {
  claimAddresses,
  createLocalNetwork,
  type LocalNetwork,
  releaseAddresses,
  removeLocalNetwork,
} from "./local-network.ts";
import type { NetworkMode } from "./network-table.ts";
import { forgetPodOwner, notePodOwner } from "./pod-owner.ts";
import { readPodResolvConf } from "./pod-resolv-conf.ts";
import { launcherUid, makeVolumes, type PodMount, type VolumeSources } from "./pod-volumes.ts";
import type { PublishedPort } from "./published-port.ts";
import { requirePodPaths } from "./require-pod-paths.ts";
import { type DeviceNode, type SandboxPlan, sandboxScript } from "./sandbox-script.ts";
import { forwarderBytes, startForwarder } from "./start-forwarder.ts";
import { visibleFolders } from "./visible-folders.ts";

/** What {@link createLocalSandbox} runs. */
export interface LocalSandboxOptions {
  /** Where local mode keeps all its files; `/var/lib/virtkit` for the command line. */
  readonly stateDirectory: string;
  /** With a UID: that of the record, which was written before. */
  readonly pod: Pod;
  readonly podUid: string;
  /** The Pod's owner, to find it by that name if its record is damaged. */
  readonly vmi?: { readonly namespace: string; readonly name: string };
  /** The Node program that replaces the container's. */
  readonly launcher: string;
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
  readonly limits: LocalLimits;
  readonly devices?: readonly DeviceNode[];
  readonly published?: readonly PublishedPort[];
  /** A guest moves in: another Pod has its ports until that one has ended. */
  readonly receives?: boolean;
  /** Default: `isolated`. */
  readonly network?: NetworkMode;
  /** Mounted beside the container's volumes. */
  readonly mounts?: readonly PodMount[];
  /** Images, Secrets and ConfigMaps. */
  readonly sources?: VolumeSources;
  /** Added to the container's own arguments. */
  readonly args?: readonly string[];
  /** Added to the container's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** A running Pod of local mode. */
export interface LocalSandbox {
  readonly names: LocalNames;
  readonly network: LocalNetwork;
  /** The launcher, by the host's count. */
  readonly pid: number;
}

/**
 * Does what a kubelet does for a launcher's Pod: folders and volumes, cgroup, network, namespaces,
 * and the container's program in them. Needs root. The program outlives this process. Parts of an
 * interrupted attempt are used or replaced; {@link removeLocalSandbox} removes everything at any
 * point.
 */
export async function createLocalSandbox(options: LocalSandboxOptions): Promise<LocalSandbox> {
  const { stateDirectory, pod, podUid, published = [], network: mode = "isolated" } = options;
  const { receives = false } = options;
  requirePodPaths(pod);
  const names = localNames(stateDirectory, podUid);
  const container = pod.spec.containers.find(({ name }) => name === "compute");
  if (!container) {
    throw new NodeAgentError("AGENT_ARGUMENT", "pod: it has no container named compute", {
      path: "pod.spec.containers",
    });
  }
  await mkdir(join(names.directory, "root"), { recursive: true, mode: 0o711 });
  const volumes = await makeVolumes(names.directory, pod, container, options.sources ?? {});
  await writeEtc(names, pod.spec.hostname ?? "vm", mode);
  await writeFile(names.terminationMessage, "");
  await chown(names.terminationMessage, launcherUid, launcherUid);
  notePodOwner({ podUid, stateDirectory, ...options.vmi });
  const procs = createLocalCgroup(names.cgroup, limitsOf(options));
  const network = await claimAddresses(stateDirectory, podUid);
  const { podAddress } = network;
  const lifeline =
    published.length === 0
      ? undefined
      : await startForwarder({ podUid, podAddress, published, waits: receives }, procs, options);
  try {
    await createLocalNetwork(names, network, mode, procs);
    await turnOnForwarding();
    const mounts = [...volumes, ...(options.mounts ?? [])];
    const script = sandboxScript({ ...planOf(options, names, container), mounts });
    const pid = await start(names, procs, script, lifeline, options);
    return { names, network, pid };
  } finally {
    // The launcher has it now; if there is none, the forwarder ends.
    lifeline?.destroy();
  }
}

/** The forwarder is in the Pod's cgroup, but not included in the Pod's own limits. */
function limitsOf({ limits, published = [] }: LocalSandboxOptions): LocalLimits {
  if (published.length === 0) return limits;
  return { ...limits, memoryBytes: limits.memoryBytes + forwarderBytes };
}

function planOf(
  { pod, launcher, nodeOptions = [], devices = [], args = [], env = {} }: LocalSandboxOptions,
  names: LocalNames,
  container: Container,
): Omit<SandboxPlan, "mounts"> {
  const { command = [], securityContext } = container;
  const variables = containerEnvironment(pod, container);
  return {
    root: join(names.directory, "root"),
    etc: join(names.directory, "etc"),
    hostname: pod.spec.hostname ?? "vm",
    kept: visibleFolders(process.execPath, launcher),
    devices,
    terminationMessage: names.terminationMessage,
    uid: launcherUid,
    capabilities: (securityContext?.capabilities?.add ?? []).map((name) => name.toLowerCase()),
    env: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: "/tmp",
      ...variables,
      ...env,
    },
    // The image's program is the one of this host.
    command: [
      process.execPath,
      ...nodeOptions,
      launcher,
      ...expandCommand(command.slice(1), variables),
      ...args,
    ],
  };
}

/** Files of `/etc` that differ from the host's. */
async function writeEtc(
  { directory }: LocalNames,
  hostname: string,
  mode: NetworkMode,
): Promise<void> {
  const folder = join(directory, "etc");
  await mkdir(folder, { recursive: true });
  const without107 = async (file: string): Promise<string> =>
    (await readFile(file, "utf8")).replace(/^[^:\n]*:[^:\n]*:107:.*\n/gm, "");
  const files = {
    // A host name that does not resolve costs libvirt a DNS timeout of ten seconds a look-up.
    hosts: `127.0.0.1 localhost ${hostname}\n::1 localhost\n`,
    hostname: `${hostname}\n`,
    "nsswitch.conf": "hosts: files\npasswd: files\ngroup: files\n",
    passwd: `${await without107("/etc/passwd")}qemu:x:${launcherUid}:${launcherUid}:qemu:/:/sbin/nologin\n`,
    group: `${await without107("/etc/group")}qemu:x:${launcherUid}:\n`,
    // The host's may be a link to a place that the sandbox does not see.
    "resolv.conf": await readPodResolvConf(mode),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

async function start(
  names: LocalNames,
  procs: readonly string[],
  script: string,
  lifeline: Duplex | undefined,
  options: Pick<LocalSandboxOptions, "clock" | "signal">,
): Promise<number> {
  const { command, args } = planChild({
    command: "sh",
    args: ["-c", script],
    join: { network: `/run/netns/${names.networkNamespace}` },
    create: ["mount", "uts", "ipc", "pid"],
    cgroups: procs,
    noNewPrivileges: false,
  });
  // For reading too: the launcher trims old content, and keeps the newest.
  const log = openSync(names.log, "a+", 0o640);
  try {
    // A session of its own: neither the terminal's Ctrl-C nor this process's end may reach it.
    const child = spawn(command, args, {
      detached: true,
      stdio: ["ignore", log, log, ...(lifeline ? [lifeline] : [])],
      cwd: "/",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    });
    // One that was not started has no process, which is seen below.
    child.on("error", () => undefined);
    child.unref();
    const hasEnded = (): boolean =>
      child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    try {
      return await untilStarted(names, hasEnded, options);
    } catch (error) {
      // It may not have joined the cgroup yet, where removal would look for it.
      child.kill("SIGKILL");
      throw error;
    }
  } finally {
    closeSync(log);
  }
}

/** Its root is complete once the first process has become the launcher's user. */
async function untilStarted(
  names: LocalNames,
  hasEnded: () => boolean,
  { clock, signal }: Pick<LocalSandboxOptions, "clock" | "signal">,
): Promise<number> {
  const look = (): number | "ended" | undefined => {
    const pid = firstProcess(names.cgroup);
    if (pid !== undefined && isLauncherUser(pid)) return pid;
    return hasEnded() ? "ended" : undefined;
  };
  const pid = await until(look, { clock, interval: 10, timeout: 60_000, signal });
  if (typeof pid === "number") return pid;
  const said = readFileSync(names.log, "utf8").trim().slice(-1000) || "it printed nothing";
  const message = `the sandbox could not be created: ${said}; "virtkit doctor" lists what this host lacks`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: names.log });
}

function isLauncherUser(pid: number): boolean {
  try {
    return new RegExp(`^Uid:\\s+${launcherUid}\\s`, "m").test(
      readFileSync(`/proc/${pid}/status`, "utf8"),
    );
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** The launcher of a Pod, by the host's count; undefined if it has ended. */
export function localLauncher(stateDirectory: string, podUid: string): number | undefined {
  return firstProcess(localNames(stateDirectory, podUid).cgroup);
}

/** Whether anything of a Pod still runs. */
export function isAlive(stateDirectory: string, podUid: string): boolean {
  return localProcesses(localNames(stateDirectory, podUid).cgroup).length > 0;
}

/**
 * Ends what still runs of a Pod and removes its cgroup and network; its folder stays for
 * inspection.
 */
export async function stopLocalSandbox(
  stateDirectory: string,
  podUid: string,
  { clock }: { readonly clock?: Clock | undefined } = {},
): Promise<void> {
  const names = localNames(stateDirectory, podUid);
  await removeLocalCgroup(names.cgroup, { clock });
  await removeLocalNetwork(names);
  await releaseAddresses(stateDirectory, podUid);
  await restoreForwarding();
  forgetPodOwner(podUid);
}

/** Does {@link stopLocalSandbox}, and removes the Pod's folder. Can be repeated. */
export async function removeLocalSandbox(stateDirectory: string, podUid: string): Promise<void> {
  await stopLocalSandbox(stateDirectory, podUid);
  await rm(localNames(stateDirectory, podUid).directory, { recursive: true, force: true });
}
