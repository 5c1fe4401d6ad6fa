import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { planHotplug } from "../hotplug/hotplug-plan.ts";
import { isNodeAgentError } from "../node-agent-error.ts";
import type { StepOutcome } from "../plan/index.ts";
import type { AgentContext } from "./agent-context.ts";
import { attachmentContainer } from "./attachment-pods.ts";
import type { GuestHold } from "./guest-hold.ts";
import type { FoundLauncher } from "./node-host.ts";

/**
 * Puts the hotplugged volumes into the sandbox whose attachment Pods run. One that fails does not keep the others
 * out.
 */
export async function mountHotplug(
  hold: GuestHold | undefined,
  vmi: VirtualMachineInstance | undefined,
  context: AgentContext,
): Promise<StepOutcome> {
  const launcher = hold?.launcher;
  if (!launcher || !vmi) return { kind: "done" };
  const before = launcher.pluggedVolumes();
  const { plug } = planHotplug(vmi, before, disksOf(hold), context.names);
  if (plug.length === 0) return { kind: "done", mounted: volumesIn(launcher, vmi) };
  let waits = false;
  const failures: unknown[] = [];
  for (const wanted of plug) {
    context.signal.throwIfAborted();
    const from = await attachmentContainer(wanted, hold.record.podUid, vmi, context);
    if (!from) {
      waits = true;
      continue;
    }
    try {
      await context.effects("plug a volume", () => launcher.plugVolume(wanted, from, vmi));
    } catch (error) {
      failures.push(error);
    }
  }
  const mounted = volumesIn(launcher, vmi);
  const [failure] = failures;
  if (failure === undefined) return { kind: waits ? "later" : "done", mounted };
  const message = failure instanceof Error ? failure.message.slice(0, 1_024) : String(failure);
  const isMissing = isNodeAgentError(failure) && failure.code === "AGENT_VOLUME_MISSING";
  return { kind: "failed", message, mounted, ...(isMissing ? { cause: "missing" } : {}) };
}

/** Removes the volumes from the sandbox that the VMI no longer has and no disk of the guest uses. */
export async function unmountHotplug(
  hold: GuestHold | undefined,
  vmi: VirtualMachineInstance | undefined,
  { names, effects, signal }: AgentContext,
): Promise<StepOutcome> {
  const launcher = hold?.launcher;
  if (!launcher || !vmi) return { kind: "done" };
  const { unplug } = planHotplug(vmi, volumesIn(launcher, vmi), disksOf(hold), names);
  for (const volume of unplug) {
    signal.throwIfAborted();
    await effects("unplug a volume", () => launcher.unplugVolume(volume, vmi));
  }
  return { kind: "done", mounted: volumesIn(launcher, vmi) };
}

/**
 * Volumes that are in a sandbox, including those that an interrupted agent has left there half-way and that
 * the VMI no longer has: until they are removed, they must not be reported as gone, or their storage would be
 * removed under a mount.
 */
export function volumesIn(
  launcher: Pick<FoundLauncher, "pluggedVolumes" | "interruptedVolumes">,
  { spec: { volumes = [], utilityVolumes = [] } }: VirtualMachineInstance,
): readonly string[] {
  const wanted = new Set([...volumes, ...utilityVolumes].map(({ name }) => name));
  const left = launcher.interruptedVolumes().filter((name) => !wanted.has(name));
  return [...launcher.pluggedVolumes(), ...left];
}

/** Volumes that the domain has as disks, as far as its launcher has reported. */
function disksOf({ domain }: GuestHold): readonly string[] | undefined {
  return domain?.disks.map(({ volume }) => volume);
}
