import type { GuestAgent } from "../agent/guest-agent.ts";
import { DomainManagerError, isDomainManagerError } from "../domain-manager-error.ts";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import { type Caller, type FoundDomain, findDomain, isActive } from "./guest-domain.ts";
import type { GuestSession } from "./guest-session.ts";
import type { MayRun } from "./may-run.ts";
import { readRunRecord, writeRunRecord } from "./run-record.ts";
import { resumeVcpus } from "./run-vcpus.ts";
import type { VerbCall } from "./verb-queue.ts";

/** The guest's domain; an error if there is none. */
export async function requireDomain(
  { libvirt, name }: Pick<GuestSession, "libvirt" | "name">,
  { signal }: Pick<VerbCall, "signal">,
): Promise<FoundDomain> {
  const found = await findDomain(libvirt, name, { signal });
  if (found) return found;
  const message = `libvirt has no domain ${name}; sync the VMI first`;
  throw new DomainManagerError("DOMAIN_MISSING", message, { path: name });
}

/** The guest's domain, running or paused; an error otherwise. */
export async function requireActive(
  session: Pick<GuestSession, "libvirt" | "name">,
  call: Pick<VerbCall, "signal">,
): Promise<FoundDomain> {
  const found = await requireDomain(session, call);
  if (isActive(found)) return found;
  const message = `the guest is ${found.state} (${found.reason}) and does not run`;
  throw new DomainManagerError("DOMAIN_STATE", message, { path: session.name });
}

/**
 * Stops the vCPUs of a running guest; one that waits to be resumed stays paused. First records that
 * no sync may resume it: a crash in between leaves a running guest, not one that resumes on its
 * own.
 */
export async function pauseGuest(session: GuestSession, call: VerbCall): Promise<void> {
  const { libvirt, identity } = session;
  const { signal } = call;
  const { dom, state } = await requireDomain(session, call);
  if (state !== "running" && state !== "paused") return;
  const record = await readRunRecord(libvirt, dom, { signal });
  if (!record || record.waits) {
    await writeRunRecord(libvirt, dom, { vmiUid: identity.vmiUid, waits: false }, { signal });
  }
  if (state === "running") await libvirt.call("domainSuspend", { dom }, { signal });
}

/** Resumes a paused guest. Returns whether it was paused. */
export async function unpauseGuest(
  session: GuestSession,
  mayRun: MayRun,
  call: VerbCall,
): Promise<FoundDomain | undefined> {
  const { libvirt, right } = session;
  right.check(mayRun);
  const found = await requireDomain(session, call);
  if (found.state !== "paused") return undefined;
  await resumeVcpus({ libvirt, right, mayRun, dom: found.dom }, call.uninterrupted());
  return found;
}

/**
 * Asks a guest to power off: by its agent or, if that does not answer, by its power button. Asking
 * again is harmless. A guest that does not exist or has ended is left alone.
 */
export async function shutDownGuest(
  session: GuestSession,
  agentOf: AgentOf,
  { signal }: VerbCall,
): Promise<void> {
  const found = await findDomain(session.libvirt, session.name, { signal });
  if (!found || (found.state !== "running" && found.state !== "paused")) return;
  await ask(session.libvirt, "domainShutdown", found, agentOf, signal);
}

/** Asks a guest to reboot: by its agent or, if that does not answer, by its power button. */
export async function rebootGuest(
  session: GuestSession,
  agentOf: AgentOf,
  call: VerbCall,
): Promise<void> {
  const found = await requireActive(session, call);
  await ask(session.libvirt, "domainReboot", found, agentOf, call.signal);
}

/** The agent of a domain. */
export type AgentOf = (dom: DomainRef) => Pick<GuestAgent, "ping" | "shutdown" | "reboot">;

/**
 * If the agent answers, only the agent is asked: with the power button as well, a guest that is
 * about to reboot would be told to power off, or vice versa.
 */
async function ask(
  libvirt: Caller,
  procedure: "domainShutdown" | "domainReboot",
  { dom, state }: FoundDomain,
  agentOf: AgentOf,
  signal: AbortSignal,
): Promise<void> {
  const agent = agentOf(dom);
  const pressButton = async (): Promise<void> => {
    const args = { dom, flags: ["acpiPowerButton"] } as const;
    await libvirt.call(procedure, args, { signal }).catch(unlessEnded);
  };
  const answers = state === "running" && (await isAnswering(agent, signal));
  if (!answers) return await pressButton();
  try {
    await (procedure === "domainShutdown" ? agent.shutdown({ signal }) : agent.reboot({ signal }));
  } catch (error) {
    signal.throwIfAborted();
    // An agent that complies may be gone before it has answered.
    if (!isDomainManagerError(error) || !silences.includes(error.code)) throw error;
    // An agent that answers with a refusal, which a guest may configure, does not comply.
    if (isRefusal(error.cause)) await pressButton();
  }
}

function isRefusal(cause: unknown): boolean {
  return (
    isLibvirtError(cause) &&
    cause.code === "LIBVIRT_REMOTE" &&
    cause.remote?.codeName !== "agentUnresponsive" &&
    !isEnded(cause)
  );
}

const silences = ["DOMAIN_AGENT", "DOMAIN_STATE", "DOMAIN_MISSING"];

async function isAnswering(agent: Pick<GuestAgent, "ping">, signal: AbortSignal): Promise<boolean> {
  return await agent.ping({ signal }).then(
    () => true,
    () => {
      signal.throwIfAborted();
      return false;
    },
  );
}

/** Presses the reset button. */
export async function resetGuest(session: GuestSession, call: VerbCall): Promise<void> {
  const { dom } = await requireActive(session, call);
  await session.libvirt.call("domainReset", { dom }, { signal: call.signal });
}

/**
 * Ends a guest at once: QEMU is asked, then killed. A guest that does not exist or has ended is
 * left alone. When it returns, QEMU is gone.
 */
export async function killGuest(session: GuestSession, call: VerbCall): Promise<void> {
  const { libvirt, name } = session;
  const found = await findDomain(libvirt, name, { signal: call.signal });
  if (!found || !isActive(found)) return;
  const { dom } = found;
  try {
    await libvirt.call("domainDestroy", { dom, flags: ["graceful"] }, call.uninterrupted());
  } catch (error) {
    if (isEnded(error)) return;
    await libvirt.call("domainDestroy", { dom }, call.uninterrupted()).catch(unlessEnded);
  }
}

/** Removes what libvirt knows about an ended guest. */
export async function deleteGuest(session: GuestSession, call: VerbCall): Promise<void> {
  const { libvirt, name } = session;
  const found = await findDomain(libvirt, name, { signal: call.signal });
  if (!found) return;
  if (isActive(found)) {
    const message = `the guest is ${found.state}; shut it down or kill it before it is deleted`;
    throw new DomainManagerError("DOMAIN_STATE", message, { path: name });
  }
  const flags = ["keepNvram", "checkpointsMetadata"] as const;
  await libvirt.call("domainUndefine", { dom: found.dom, flags }, { signal: call.signal });
  session.right.close();
}

function unlessEnded(error: unknown): void {
  if (!isEnded(error)) throw error;
}

/** Whether libvirt says that there is nothing left to end. */
function isEnded(error: unknown): boolean {
  return isLibvirtError(error, "noDomain") || isLibvirtError(error, "operationInvalid");
}
