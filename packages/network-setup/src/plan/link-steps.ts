import { NetworkSetupError } from "../network-setup-error.ts";
import type { LinkRef, Mac, Operation, Step } from "./operation.ts";
import type { PodNic } from "./pod-nic.ts";
import type { WantedLink } from "./wanted-links.ts";

/** The kernel's kinds of the links that we create. */
const types = { bridge: "bridge", tap: "tap", placeholder: "dummy", port: undefined } as const;

/**
 * The steps that turn the links of a namespace into the wanted ones, each with its undo. Pure: the
 * present links are an argument. Throws a {@link NetworkSetupError} if a link with a wanted name is
 * of another kind.
 */
export function linkSteps(nics: readonly PodNic[], links: readonly WantedLink[]): readonly Step[] {
  const steps: Step[] = [];
  // Names that earlier steps have freed or taken.
  const taken = new Map(nics.map((nic) => [nic.name, nic]));
  for (const link of links) {
    const found = nics.find(({ index }) => index === link.index) ?? taken.get(link.name);
    steps.push(...stepsFor(resolved(link, nics), found, nics));
    if (found && found.name !== link.name) taken.delete(found.name);
  }
  return steps;
}

function stepsFor(link: WantedLink, found: PodNic | undefined, nics: readonly PodNic[]): Step[] {
  const step = (operation: Operation, ...undo: Operation[]): Step => ({
    network: link.network,
    operation,
    undo,
  });
  if (!link.present) return found ? [step({ kind: "deleteLink", link: { name: link.name } })] : [];
  if (!found) {
    const spare = nics.map(({ index }) => index);
    const undo: Operation = { kind: "deleteLink", link: { name: link.name }, spare };
    return [step(creation(link), undo), ...settings(link, undefined, step)];
  }
  const type = types[link.role];
  if (type !== undefined && found.type !== type) throw typeConflict(link, found, type);
  return settings(link, found, step);
}

/** The MAC of an existing link is known; that of a new one is not. */
function resolved(link: WantedLink, nics: readonly PodNic[]): WantedLink {
  const { mac } = link;
  if (mac === undefined || typeof mac === "string") return link;
  const known = nics.find(({ name }) => name === mac.sameAs)?.mac;
  return known ? { ...link, mac: known } : link;
}

type MakeStep = (operation: Operation, ...undo: Operation[]) => Step;

function creation(link: WantedLink): Operation {
  const ref = { name: link.name };
  switch (link.role) {
    case "bridge":
      return { kind: "addLink", link: ref, type: "bridge" };
    case "placeholder":
      return { kind: "addLink", link: ref, type: "dummy" };
    case "tap": {
      const { queues = 0, owner = 0, labelOf = 0 } = link.tap ?? {};
      return { kind: "addTap", link: ref, mtu: link.mtu ?? 0, queues, owner, labelOf };
    }
    case "port": {
      const message = `the Pod has no interface to become ${link.name}; check whether the CNI has run`;
      throw new NetworkSetupError("NETWORK_POD_LINK_MISSING", message, { path: link.name });
    }
  }
}

/** Everything about a link except its existence, in an order that the kernel accepts. */
function settings(link: WantedLink, found: PodNic | undefined, step: MakeStep): Step[] {
  const before: LinkRef = found ? { name: found.name, index: found.index } : { name: link.name };
  const ref: LinkRef = { ...before, name: link.name };
  const wasUp = found?.state === "up" || found?.state === "lower-layer-down";
  const steps: Step[] = [];
  if (found && wasUp) {
    // What a link loses by going down and by losing its addresses.
    const { routes, neighbours = [] } = found;
    const restore: Operation = { kind: "restoreRoutes", link: before, routes, neighbours };
    const unless = { name: link.name, mac: link.mac };
    steps.push(
      step({ kind: "setDown", link: before, unless }, { kind: "setUp", link: before }, restore),
    );
  }
  if (link.name !== before.name) {
    steps.push(
      step(
        { kind: "rename", link: before, to: link.name },
        { kind: "rename", link: ref, to: before.name },
      ),
    );
  }
  steps.push(...attributes(link, found, ref, step));
  const down: Operation[] = found && wasUp ? [{ kind: "setDown", link: ref }] : [];
  if (link.up) steps.push(step({ kind: "setUp", link: ref }, ...down));
  if (link.routeLocalNet) {
    const name = `net/ipv4/conf/${link.name}/route_localnet`;
    steps.push(step({ kind: "setSysctl", name, value: "1" }));
  }
  if (link.learning === false) {
    const on: Operation = { kind: "setLearning", link: ref, on: true };
    steps.push(step({ kind: "setLearning", link: ref, on: false }, on));
  }
  if (wasUp) steps.push(step({ kind: "setUp", link: ref, restores: true }, ...down));
  return steps;
}

function attributes(
  link: WantedLink,
  found: PodNic | undefined,
  ref: LinkRef,
  step: MakeStep,
): Step[] {
  const steps: Step[] = [];
  const macUndo: Operation[] = found?.mac ? [{ kind: "setMac", link: ref, mac: found.mac }] : [];
  if (link.mac && !sameMac(link.mac, found)) {
    steps.push(step({ kind: "setMac", link: ref, mac: link.mac }, ...macUndo));
  }
  // A TAP gets its MTU when it is created.
  if (link.mtu && link.mtu !== found?.mtu && !(link.role === "tap" && !found)) {
    const undo: Operation[] = found ? [{ kind: "setMtu", link: ref, mtu: found.mtu }] : [];
    steps.push(step({ kind: "setMtu", link: ref, mtu: link.mtu }, ...undo));
  }
  if (link.master !== undefined) {
    const undo: Operation[] = found ? [{ kind: "setMaster", link: ref, master: undefined }] : [];
    steps.push(step({ kind: "setMaster", link: ref, master: link.master }, ...undo));
  }
  return [...steps, ...addressSteps(link, found, ref, step)];
}

/**
 * Removes all addresses and adds the wanted ones. The kernel keeps the order in which addresses
 * were added, and the Pod sends from the first one of a network. So the undo removes all of them
 * and adds them again in their order.
 */
function addressSteps(
  link: WantedLink,
  found: PodNic | undefined,
  ref: LinkRef,
  step: MakeStep,
): Step[] {
  const old = found?.addresses ?? [];
  const remove = old.map((address): Operation => ({ kind: "deleteAddress", link: ref, address }));
  const back = old.map((address): Operation => ({ kind: "addAddress", link: ref, address }));
  const added = [...(link.ipv4 ?? []), ...(link.ipv6 ?? [])].map((address) => {
    const undo: Operation[] = found ? [{ kind: "deleteAddress", link: ref, address }] : [];
    return step({ kind: "addAddress", link: ref, address }, ...undo);
  });
  const undoAll = [...remove, ...back];
  return [
    ...remove.map((operation, index) => step(operation, ...(index === 0 ? undoAll : []))),
    ...added,
  ];
}

function sameMac(mac: Mac, found: PodNic | undefined): boolean {
  return typeof mac === "string" && mac === found?.mac;
}

function typeConflict(link: WantedLink, found: PodNic, type: string): NetworkSetupError {
  const message = `the link ${link.name} exists and is a ${found.type}, not a ${type}; remove it`;
  return new NetworkSetupError("NETWORK_LINK_CONFLICT", message, { path: link.name });
}
