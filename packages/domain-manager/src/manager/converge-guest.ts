import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { ordinalPodInterfaces, podInterface } from "@virtkit/api/network";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  contextNames,
  type Domain,
  type DomainChange,
  diffDomains,
  parseDomain,
} from "@virtkit/converter";
import type { PodFacts } from "@virtkit/converter/launcher";
import { nameOfAlias } from "@virtkit/converter/model";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { PendingChange } from "../status/domain-status.ts";
import { applyChange, type ChangeTarget } from "./apply-change.ts";
import { growDisks } from "./grow-disks.ts";
import type { SyncRequest } from "./guest-control.ts";
import type { GuestSession } from "./guest-session.ts";
import { type LocalPath, localPaths } from "./launcher-files.ts";
import type { VerbCall } from "./verb-queue.ts";
import { wantedDomain } from "./wanted-domain.ts";

/**
 * Changes a running guest to match its VMI, as far as that is possible while it runs. Returns what
 * is left, with what each change needs. A failed change ends it; earlier ones stay applied.
 */
export async function convergeGuest(
  session: GuestSession,
  dom: DomainRef,
  { vmi, context, pod, podFits = false }: SyncRequest,
  { signal }: VerbCall,
): Promise<readonly PendingChange[]> {
  const { libvirt } = session;
  const localPath = localPaths(session.names, context);
  const { xml } = await libvirt.call("domainGetXmlDesc", { dom }, { signal });
  const running = parseDomain(xml);
  const { plugged, waiting } = withoutMissingLinks(vmi, running, pod);
  const wanted = await wantedDomain(session, { vmi: plugged, context, pod });
  const pending: PendingChange[] = [...waiting];
  const options = { dynamicNetworks: true, names: contextNames(context) };
  for (const change of diffDomains(running, wanted, options)) {
    const live = change.effect === "live" || (podFits && change.effect === "needs-migration");
    const left = live
      ? await attempt({ libvirt, dom, running }, change, localPath, signal)
      : leftOver(change);
    if (left) pending.push(left);
  }
  const small = await growDisks({ libvirt, localPath }, dom, vmi, wanted, { signal });
  return [...pending, ...small];
}

function leftOver({ effect, summary, reason }: DomainChange): PendingChange {
  return { effect: effect === "live" ? "retry" : effect, summary, ...(reason ? { reason } : {}) };
}

/** Applies a change, unless it must wait; returns what it waits for. */
async function attempt(
  target: ChangeTarget,
  change: DomainChange,
  localPath: LocalPath,
  signal: AbortSignal,
): Promise<PendingChange | undefined> {
  const image = imageOf(change);
  if (image !== undefined && !(await isUsable(localPath(image)))) {
    const reason = `${image} does not exist yet, or cannot be read`;
    return { effect: "retry", summary: change.summary, reason };
  }
  try {
    await applyChange(target, change, { signal });
    return undefined;
  } catch (error) {
    if (!isBeingUnplugged(error)) throw error;
    const reason = "the guest was asked to release the device, and has not done so yet";
    return { effect: "retry", summary: change.summary, reason };
  }
}

/** The image that must exist before a change is applied. */
function imageOf(change: DomainChange): string | undefined {
  if (change.kind !== "attach-disk" && change.kind !== "change-media") return undefined;
  const { source } = change.disk;
  const below = source.dataStore?.source;
  return (below?.file ?? below?.dev ?? source.file ?? source.dev) || undefined;
}

async function isUsable(path: string): Promise<boolean> {
  return await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

function isBeingUnplugged(error: unknown): boolean {
  return isLibvirtError(error) && /in the process of unplug/.test(error.remote?.message ?? "");
}

/**
 * The VMI without new interfaces whose network the Pod does not have yet: their links come with a
 * new Pod, or with a controller that plugs networks into this one.
 */
function withoutMissingLinks(
  vmi: VirtualMachineInstance,
  running: Domain,
  { podLinks = {} }: PodFacts = {},
): { readonly plugged: VirtualMachineInstance; readonly waiting: readonly PendingChange[] } {
  const interfaces = vmi.spec.domain.devices?.interfaces ?? [];
  const networks = vmi.spec.networks ?? [];
  const known = new Set(running.devices.interfaces.map(({ alias }) => nameOfAlias(alias)));
  const ordinal = ordinalPodInterfaces(networks);
  const missing = new Set<string>();
  for (const network of networks) {
    const links = [podInterface(network, vmi.status?.interfaces ?? []), ordinal.get(network.name)];
    const isLinked = links.some((link) => link !== undefined && Object.hasOwn(podLinks, link));
    if (!known.has(network.name) && !isLinked) missing.add(network.name);
  }
  const waiting = interfaces.filter(({ name, state }) => missing.has(name) && state !== "absent");
  if (waiting.length === 0) return { plugged: vmi, waiting: [] };
  const names = new Set(waiting.map(({ name }) => name));
  const devices = {
    ...vmi.spec.domain.devices,
    interfaces: interfaces.filter(({ name }) => !names.has(name)),
  };
  return {
    plugged: { ...vmi, spec: { ...vmi.spec, domain: { ...vmi.spec.domain, devices } } },
    waiting: waiting.map(({ name }) => ({
      effect: "needs-migration",
      summary: `attach the interface "${name}"`,
      reason: "the Pod has no link for its network",
    })),
  };
}
