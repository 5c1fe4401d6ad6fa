import { createHash } from "node:crypto";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { isDomainManagerError } from "@virtkit/domain-manager";
import type { KubeObject } from "@virtkit/kube";
import { patchObject } from "@virtkit/kube/writes";
import { isLauncherError } from "@virtkit/launcher/client";
import { NodeAgentError } from "../node-agent-error.ts";
import type { NodePlan, NodeStep, NodeView, StepOutcome } from "../plan/index.ts";
import { planNode } from "../plan/index.ts";
import type { AgentContext } from "./agent-context.ts";
import { boundedDomain } from "./bounded-domain.ts";
import type { GuestHold } from "./guest-hold.ts";
import type { GuestRecord } from "./guest-record.ts";
import { mountHotplug, unmountHotplug } from "./hotplug-pass.ts";
import { nodeDomainOf } from "./node-domain.ts";
import type { GuestClient } from "./node-host.ts";
import type { Seam } from "./seams.ts";
import { claimGrant, grantObstacle, grantOf } from "./vmi-grant.ts";

/** What one VMI's pass is about. */
export interface PassSubject {
  /** Absent if no launcher could be proven to be the VMI's. */
  readonly hold: GuestHold | undefined;
  /** As it was read; absent if it is gone. */
  readonly vmi: (VirtualMachineInstance & KubeObject) | undefined;
  /** What goes into the same write as the status. */
  annotations?(): Readonly<Record<string, string>> | undefined;
}

/** Plans a pass and carries it out, step by step. Returns the plan as carried out. */
export async function carryOutPass(
  view: NodeView,
  subject: PassSubject,
  context: AgentContext,
): Promise<NodePlan> {
  const outcomes: StepOutcome[] = [];
  let plan = planNode(view);
  for (let step = plan.steps[0]; step; step = plan.steps[outcomes.length]) {
    context.signal.throwIfAborted();
    outcomes.push(await outcomeOf(step, subject, context));
    plan = planNode(view, outcomes);
  }
  return plan;
}

async function outcomeOf(
  step: NodeStep,
  subject: PassSubject,
  context: AgentContext,
): Promise<StepOutcome> {
  try {
    return (await doStep(step, subject, context)) ?? { kind: "done" };
  } catch (error) {
    context.signal.throwIfAborted();
    const message = error instanceof Error ? error.message.slice(0, 1_024) : String(error);
    return { kind: "failed", message, ...(isLauncherError(error) ? { cause: "lost" } : {}) };
  }
}

async function doStep(
  step: NodeStep,
  subject: PassSubject,
  context: AgentContext,
): Promise<StepOutcome | undefined> {
  switch (step.do) {
    case "sync":
      await sync(subject, context);
      return synced(subject);
    case "prepare":
      await prepare(subject, context);
      return undefined;
    case "wire-networks":
      // A second preparation wires what has arrived since the first.
      await prepare(subject, context);
      return undefined;
    case "shutdown":
      await shutDown(subject, context);
      return undefined;
    case "kill":
      await ask(subject, context, "kill the guest", (client, options) => client.kill(options));
      return undefined;
    case "delete":
      await noteEnd(subject, context);
      await ask(subject, context, "delete the domain", (client, options) => client.delete(options));
      return undefined;
    case "memory-dump":
      return await dumpMemory(step.path, subject, context);
    case "guest-info":
      return await guestInfo(subject, context);
    case "clean-up":
      await cleanUp(subject, context);
      return undefined;
    case "write-status":
      await writeStatus(step.status, subject, context);
      return undefined;
    case "hook":
      await context.hooks?.[step.hook]?.(subject.vmi);
      return undefined;
    case "hotplug-host-devices":
      // The next sync plugs them in: it must not be mistaken for one that changes nothing.
      forgetSync(subject);
      return undefined;
    case "mount-hotplug":
      requireKnown(subject, context);
      return await mountHotplug(subject.hold, subject.vmi, context);
    case "unmount-hotplug":
      requireKnown(subject, context);
      return await unmountHotplug(subject.hold, subject.vmi, context);
    // Covered by a sync, by the kernel for the Pod, or not supported by this release's images.
    case "lock-memory":
    case "housekeeping":
    case "checksums":
    case "mark-tracker":
      return undefined;
  }
}

function clientOf({ hold }: PassSubject): GuestClient {
  if (hold?.client) return hold.client;
  throw new NodeAgentError("AGENT_LAUNCHER", "no connection to the launcher");
}

async function ask<T>(
  subject: PassSubject,
  { effects, signal }: AgentContext,
  seam: Seam,
  call: (client: GuestClient, options: { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const client = clientOf(subject);
  return await effects(seam, () => call(client, { signal }));
}

async function prepare(subject: PassSubject, { effects, signal }: AgentContext): Promise<void> {
  const { hold, vmi } = subject;
  const client = clientOf(subject);
  if (!hold?.launcher || !vmi) return;
  const { launcher } = hold;
  hold.request = await effects("prepare the sandbox", () =>
    launcher.prepare(vmi, client, { signal }),
  );
  hold.requestedFor = digestOf(vmi);
}

/**
 * Brings the guest to what the VMI says. Nothing is requested if it was brought to the same state before, and runs.
 */
async function sync(subject: PassSubject, context: AgentContext): Promise<void> {
  const { hold, vmi } = subject;
  if (!hold || !vmi) return;
  const digest = digestOf(vmi);
  if (runsAsItShould(hold) && hold.record.synced === digest && !hold.hasPending) return;
  requireKnown(subject, context);
  // A prepared sandbox stays prepared; the guest is asked to be what the VMI says now.
  if (!hold.request || hold.requestedFor !== digest) await prepare(subject, context);
  const { request } = hold;
  if (!request) return;
  // An earlier claim says nothing about now: what starts a guest is preceded by a live read of the grant.
  const known = isActive(hold) ? hold.mayRun : undefined;
  const mayRun = known ?? (await claim(hold, vmi, context));
  hold.mayRun = mayRun;
  const status = await ask(subject, context, "sync the guest", (client, options) =>
    client.syncVmi({ ...request, mayRun }, options),
  );
  hold.heard(status);
  await writeRecord(hold, { ...hold.record, synced: digest }, context);
}

/**
 * A running guest without a record was claimed by an agent whose state is lost. Nothing proves that it is this
 * agent's: its sandbox is not prepared again, and no record is written that would say otherwise.
 */
function requireKnown({ hold, vmi }: PassSubject, { names, holderOf }: AgentContext): void {
  if (!hold || !vmi || hold.isRecorded || !isActive(hold)) return;
  const obstacle = grantObstacle(grantOf(vmi, names), holderOf(hold.record));
  if (obstacle === undefined) return;
  const message = `a guest runs in Pod ${hold.record.podUid}, but this agent has no record of it; it is left alone (${obstacle}); restore the agent's state directory, or restart the VM`;
  throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: "stateDirectory" });
}

function synced({ hold, vmi }: PassSubject): StepOutcome {
  const domain = hold && nodeDomainOf(hold, vmi, undefined);
  return { kind: "done", ...(domain ? { domain } : {}) };
}

/** A sync resumes a guest that an I/O error has stopped. */
function runsAsItShould({ domain }: GuestHold): boolean {
  return isActive({ domain }) && !(domain?.state === "Paused" && domain.reason === "IOError");
}

function isActive({ domain }: Pick<GuestHold, "domain">): boolean {
  return ["Running", "Paused", "Blocked", "PMSuspended"].includes(domain?.state ?? "");
}

/** The grant is claimed last of all, by an incarnation that is on disk, in a boot that the Node object knows. */
async function claim(
  hold: GuestHold,
  vmi: VirtualMachineInstance,
  context: AgentContext,
): Promise<NonNullable<GuestHold["mayRun"]>> {
  await context.ownNode.confirm(context);
  if (!hold.isRecorded) await writeRecord(hold, hold.record, context);
  return await claimGrant(vmi, context.holderOf(hold.record), context);
}

async function writeRecord(
  hold: GuestHold,
  record: GuestRecord,
  { effects, records }: AgentContext,
): Promise<void> {
  await effects("write the record", () => records.write(record));
  hold.record = record;
  hold.isRecorded = true;
}

function forgetSync({ hold }: PassSubject): void {
  if (!hold) return;
  const { synced: _, ...record } = hold.record;
  hold.record = record;
}

/**
 * Has the guest's memory written, once for each file that the VMI names. The launcher answers when it is
 * written, or why it cannot be; the answer is on disk before it is reported, so that an agent that dies in
 * between does not pause the guest again for it.
 */
async function dumpMemory(
  path: string,
  subject: PassSubject,
  context: AgentContext,
): Promise<StepOutcome | undefined> {
  const { hold } = subject;
  if (!hold || hold.record.dump?.path === path) return synced(subject);
  requireKnown(subject, context);
  const time = (): string => `${context.wall().toISOString().slice(0, 19)}Z`;
  const known = hold.dump?.path === path ? hold.dump : undefined;
  const { lost, ended } = known ?? hold.requestDump(path, clientOf(subject), time);
  if (lost) {
    hold.dump = undefined;
    throw lost;
  }
  if (!ended) return { kind: "later" };
  await writeRecord(hold, { ...hold.record, dump: ended }, context);
  hold.dump = undefined;
  return synced(subject);
}

/** What a guest is brought to: its spec, and the volumes that were plugged in. */
function digestOf({ spec, status }: VirtualMachineInstance): string {
  const plugged = (status?.volumeStatus ?? [])
    .filter(({ hotplugVolume }) => hotplugVolume)
    .map(({ name, phase }) => [name, phase]);
  return createHash("sha256")
    .update(JSON.stringify([spec, plugged]))
    .digest("hex");
}

/** The grace period counts from the first request to the guest; that is on disk after the request, never before. */
async function shutDown(subject: PassSubject, context: AgentContext): Promise<void> {
  const { hold } = subject;
  const askedAt = context.wall().getTime();
  try {
    await ask(subject, context, "shut the guest down", (client, options) =>
      client.shutdown(options),
    );
  } catch (error) {
    // A guest that cannot be asked now is asked again, and finally killed.
    if (!isDomainManagerError(error)) throw error;
    context.log.warn({ reason: error.message }, "a guest could not be asked to shut down");
  }
  if (hold && hold.record.askedAt === undefined) {
    await writeRecord(hold, { ...hold.record, askedAt }, context);
  }
}

/** Once libvirt has forgotten a guest, nobody knows how it ended, so that is on disk before. */
async function noteEnd({ hold }: PassSubject, context: AgentContext): Promise<void> {
  const { state, reason, hardware } = hold?.domain ?? {};
  if (!hold || (state !== "Shutoff" && state !== "Crashed")) return;
  const end = { state, reason: reason ?? "", ...(hardware ? { acpi: hardware.acpi } : {}) };
  if (hold.record.end?.reason === end.reason) return;
  await writeRecord(hold, { ...hold.record, end }, context);
}

async function guestInfo(subject: PassSubject, context: AgentContext): Promise<StepOutcome> {
  const status = await ask(subject, context, "ask for the status", (client, options) =>
    client.status(options),
  );
  const { agentVersion, agentCommands = [] } = boundedDomain(status);
  const agent = { agentCommands, ...(agentVersion === undefined ? {} : { agentVersion }) };
  return { kind: "done", agent };
}

async function cleanUp({ hold }: PassSubject, context: AgentContext): Promise<void> {
  if (!hold) return;
  const { effects, host, signal } = context;
  const { podUid } = hold.record;
  await effects("clean up", () => host.cleanUp(podUid, hold.launcher, { signal }));
  hold.request = undefined;
  hold.requestedFor = undefined;
  hold.isCleaned = true;
}

async function writeStatus(
  status: VirtualMachineInstanceStatus,
  subject: PassSubject,
  { client, vmis, effects, signal }: AgentContext,
): Promise<void> {
  const { hold, vmi } = subject;
  if (!vmi) return;
  const annotations = { ...vmi.metadata.annotations, ...subject.annotations?.() };
  const metadata = { ...vmi.metadata, annotations };
  const after = { ...vmi, metadata, status } as KubeObject;
  const written = await effects("write the status", () =>
    patchObject(client, vmis, vmi as KubeObject, after, { signal }),
  );
  if (hold) hold.written = written;
}
