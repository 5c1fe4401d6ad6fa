import { statSync } from "node:fs";
import { type Clock, wallTime } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus, SyncRequest } from "@virtkit/domain-manager";
import { DiskPaths } from "@virtkit/domain-manager/disks";
import type { LauncherClient } from "@virtkit/launcher/client";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import type { Sandbox } from "@virtkit/node-agent/sandbox";
import type { ClaimFiles } from "./claim-files.ts";
import { efiBoot } from "./compute-refusals.ts";
import { makeHandoverFolder } from "./handover-folder.ts";
import { findFirmware } from "./host-firmware.ts";
import { launcherProgram, startTimeoutSeconds } from "./launcher-program.ts";
import { localArchitecture } from "./local-architecture.ts";
import { createLocalSandbox } from "./local-sandbox.ts";
import type { VmiMove } from "./move-file.ts";
import { movingVmi } from "./moving-vmi.ts";
import { openVmiSandbox } from "./open-vmi-sandbox.ts";
import { configOf, planMove, type VmiPlan } from "./plan-vmi.ts";
import { launcherUid } from "./pod-volumes.ts";
import { keepStartNote, readStartNote, type StartNote } from "./start-note.ts";
import { agentDirectory } from "./vmi-life.ts";
import type { VmiRecord } from "./vmi-record.ts";
import { claimUses } from "./volume-refusals.ts";

/** The input for the target of a move. */
export interface TargetOptions {
  readonly stateDirectory: string;
  readonly record: VmiRecord;
  readonly move: Pick<VmiMove, "migrationUID" | "source" | "target">;
  /** What the launcher with the guest says about it. */
  readonly status: DomainStatus;
  /** Files that the content of claims is copied to, by volume. By default both Pods have the same files. */
  readonly disks?: Readonly<Record<string, string>> | undefined;
  /** The launcher's program. Default: this release's. */
  readonly launcher?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly now?: (() => Date) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The Pod that a guest moves into, as it is planned. */
export interface TargetPlan {
  readonly vmi: VirtualMachineInstance;
  readonly plan: VmiPlan;
  readonly note: StartNote;
}

/**
 * Plans the Pod that a guest moves into: from the admitted VMI, and from what its first Pod was
 * started with. Throws `AGENT_REFUSED` with KubeVirt's reason if the guest cannot move.
 */
export function planTarget(options: TargetOptions): TargetPlan {
  const { stateDirectory, record, move, status, now = wallTime } = options;
  const { accel, name, podUid } = record;
  const note = readStartNote(stateDirectory, podUid === move.target ? move.target : move.source);
  const { allowedHostDiskDirectories, objects, pidsLimit, sources } = note;
  const config = configOf({ accel, allowedHostDiskDirectories });
  const { disks = {} } = options;
  const copied = Object.keys(disks);
  const { migrationUID } = move;
  const { vmi, obstacle } = movingVmi(record.vmi, status, { config, migrationUID, copied });
  if (obstacle) {
    const { reason, message } = obstacle;
    const text = `${name} cannot move: ${reason}: ${message}`;
    throw new NodeAgentError("AGENT_REFUSED", text, { path: reason });
  }
  const architecture = localArchitecture;
  const plan = planMove(vmi, {
    ...{ accel, objects, allowedHostDiskDirectories },
    ...{ podUid: move.target, now: now() },
    ...(pidsLimit === undefined ? {} : { pidsLimit }),
    firmware: findFirmware(architecture, efiBoot(vmi, { architecture })),
    claims: Object.keys(sources.claims ?? {}),
  });
  return { vmi, plan, note: withDisks(note, record, disks) };
}

/** What the target has for claims whose content is copied. */
function withDisks(
  note: StartNote,
  { vmi, name }: VmiRecord,
  disks: Readonly<Record<string, string>>,
): StartNote {
  const uses = claimUses(vmi).filter(({ writes }) => writes);
  const claims = Object.entries(disks).map(([volume, file]) => {
    const use = uses.find((each) => each.volume === volume);
    if (use) return [use.claim, file] as const;
    const known = uses.map((each) => each.volume).join(", ") || "none";
    const message = `${name} has no writable claim in volume "${volume}"; it has: ${known}`;
    throw new NodeAgentError("AGENT_ARGUMENT", message, { path: volume });
  });
  const { sources } = note;
  return {
    ...note,
    sources: { ...sources, claims: { ...sources.claims, ...Object.fromEntries(claims) } },
  };
}

/**
 * The sizes that the guest sees of copied disks, in bytes by volume.
 *
 * @throws NodeAgentError if a file is too small, or the launcher's user cannot write it.
 */
export function copiedSizes(
  stateDirectory: string,
  { podUid, vmi }: VmiRecord,
  disks: Readonly<Record<string, string>> = {},
): Readonly<Record<string, number>> {
  const { claims = {} } = readStartNote(stateDirectory, podUid).sources;
  const sizes = Object.entries(disks).map(([volume, file]) => {
    const { claim = "" } = claimUses(vmi).find((each) => each.volume === volume) ?? {};
    const [size, room] = [statSync(claims[claim] ?? "").size, statSync(file).size];
    if (room >= size) return [volume, size] as const;
    const message = `${file} has ${room} bytes, but volume ${volume} has ${size}; run: truncate -s ${size} ${file}`;
    throw new NodeAgentError("AGENT_ARGUMENT", message, { path: volume });
  });
  return Object.fromEntries(sizes);
}

/**
 * Creates the Pod that a guest moves into, with the same files as its present Pod. Nothing is
 * prepared yet.
 */
export async function makeTarget(
  options: TargetOptions,
  { vmi, plan, note }: TargetPlan,
): Promise<void> {
  const { stateDirectory, record, move, launcher = launcherProgram(), clock, signal } = options;
  const { namespace, name, published, network = "isolated" } = record;
  const { mountClaimFiles, openClaimFiles } = await import("./claim-files.ts");
  const { OpenHostDisks } = await import("./open-host-disks.ts");
  using claims = openClaimFiles(note.sources.claims ?? {}, { inUse: true });
  requireClaims(claims);
  using hostDisks = new OpenHostDisks(plan.hostDisks, stateDirectory);
  const { launcherNodeFlags } = await import("@virtkit/launcher/client");
  const handover = await makeHandoverFolder(stateDirectory, move);
  await createLocalSandbox({
    ...{ stateDirectory, pod: plan.pod, podUid: move.target, vmi: { namespace, name } },
    ...{ launcher, nodeOptions: launcherNodeFlags, limits: plan.limits, devices: plan.devices },
    ...{ mounts: [...plan.mounts, handover], published, receives: true, network },
    sources: note.sources,
    args: ["--start-timeout-seconds", String(startTimeoutSeconds)],
    ...(clock ? { clock } : {}),
    ...(signal ? { signal } : {}),
  });
  keepStartNote(stateDirectory, move.target, note);
  using sandbox = openVmiSandbox(stateDirectory, { name, podUid: move.target });
  await hostDisks.mount(sandbox);
  await mountClaimFiles(vmi, claims, sandbox);
}

function requireClaims({ facts }: ClaimFiles): void {
  for (const [claim, { path, problem: found, readable, writable }] of Object.entries(facts)) {
    const denied = `${path} cannot be read and written by uid ${launcherUid}`;
    const problem =
      found ?? (readable && writable ? undefined : { found: denied, instead: "chown it" });
    if (!problem) continue;
    const message = `the claim "${claim}": ${problem.found}; ${problem.instead}`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: claim });
  }
}

/** A target that is ready for its guest. */
export interface ReadyTarget {
  readonly client: LauncherClient;
  readonly request: Omit<SyncRequest, "mayRun">;
}

/** Prepares the Pod as for its own guest: images, network, DHCP. May be repeated. */
export async function prepareTarget(
  { stateDirectory, clock, signal }: TargetOptions,
  { vmi, plan }: TargetPlan,
  sandbox: Sandbox,
): Promise<ReadyTarget> {
  const { receiveGuest } = await import("@virtkit/node-agent/run");
  return await receiveGuest(vmi, sandbox, {
    stateDirectory: agentDirectory(stateDirectory),
    environment: plan.environment,
    ...(clock ? { clock } : {}),
    ...(signal ? { signal } : {}),
  });
}

/**
 * The overlays of both sides must be on the same images: if a name now stands for another file, the
 * guest would get a mixed disk.
 *
 * @throws NodeAgentError that names the volume.
 */
export function requireSameImages(
  { spec }: VirtualMachineInstance,
  source: Pick<Sandbox, "root">,
  target: Pick<Sandbox, "root">,
): void {
  const paths = new DiskPaths();
  for (const [at, { name, containerDisk }] of (spec.volumes ?? []).entries()) {
    if (!containerDisk) continue;
    const path = paths.containerDisk(at);
    using ours = source.root.resolve(path, "file");
    using theirs = target.root.resolve(path, "file");
    const [a, b] = [ours.stat(), theirs.stat()];
    if (a.inode === b.inode && a.fileSystem === b.fileSystem) continue;
    const message = `the image "${containerDisk.image}" of volume ${name} is not the file that the guest was started with; put the old one back, or stop the VMI and start it again`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path: `volumes.${name}` });
  }
}
