import { hasErrno } from "@virtkit/host-primitives";
import { runIn } from "@virtkit/host-primitives/namespaces";
import { addAddress, deleteAddress, listAddresses } from "../netlink/kernel-addresses.ts";
import {
  addLink,
  deleteLink,
  findLink,
  type KernelLink,
  setLearning,
  setLink,
} from "../netlink/kernel-links.ts";
import { addNeighbour, addRoute } from "../netlink/kernel-routes.ts";
import { isRefusal } from "../netlink/rt-netlink.ts";
import { NetworkSetupError } from "../network-setup-error.ts";
import type { LinkRef, Mac, Operation } from "../plan/operation.ts";
import { addNat, deleteNat } from "./nat.ts";
import type { PodNetwork } from "./pod-network.ts";

/** The kernel recreates its own routes with the addresses. */
const kernelProtocol = 2;

/**
 * Carries out one operation: looks, compares, and acts only if there is something to do. Resolves
 * to whether it changed anything. It is safe to run again after any interruption.
 */
export async function carryOut(network: PodNetwork, operation: Operation): Promise<boolean> {
  switch (operation.kind) {
    case "addNat":
      return await addNat(network, operation.tables);
    case "deleteNat":
      return await deleteNat(network, operation.tables);
    case "setSysctl":
      return await setSysctl(network, operation.name, operation.value);
    case "addTap":
      return await addTap(network, operation);
    default:
      return carryOutOnLink(network, operation);
  }
}

type LinkOperation = Exclude<Operation, { kind: "addNat" | "deleteNat" | "setSysctl" | "addTap" }>;

function carryOutOnLink(network: PodNetwork, operation: LinkOperation): boolean {
  const { kernel } = network;
  const { link: ref } = operation;
  switch (operation.kind) {
    case "addLink":
      return makeLink(network, ref.name, operation.type);
    case "deleteLink": {
      const link = findLink(kernel, ref);
      if (!link || operation.spare?.includes(link.index)) return false;
      deleteLink(kernel, link.index, link.name);
      return true;
    }
    case "restoreRoutes": {
      const { index } = present(network, ref);
      const routes = operation.routes.filter(({ protocol }) => protocol !== kernelProtocol);
      // A gateway must be reachable before a route through it can be added.
      const direct = routes.filter(({ gw }) => gw === undefined);
      const indirect = routes.filter(({ gw }) => gw !== undefined);
      for (const route of [...direct, ...indirect]) addRoute(kernel, index, route);
      for (const neighbour of operation.neighbours) addNeighbour(kernel, index, neighbour);
      return routes.length > 0;
    }
    default:
      return changeLink(network, present(network, ref), operation);
  }
}

type LinkChangeOperation = Exclude<
  LinkOperation,
  { kind: "addLink" | "deleteLink" | "restoreRoutes" }
>;

function changeLink(
  network: PodNetwork,
  link: KernelLink,
  operation: LinkChangeOperation,
): boolean {
  const { kernel } = network;
  switch (operation.kind) {
    case "addAddress":
      return ignoring("EEXIST", () => addAddress(kernel, link.index, operation.address));
    case "deleteAddress": {
      const { address } = operation;
      // The kernel would accept a similar address instead: first look for exactly this one.
      const has = listAddresses(kernel).some(
        ({ index, cidr }) => index === link.index && cidr === address.cidr,
      );
      return has && ignoring("EADDRNOTAVAIL", () => deleteAddress(kernel, link.index, address));
    }
    case "setLearning": {
      if (link.learning === undefined || link.learning === operation.on) return false;
      setLearning(kernel, link.index, link.name, operation.on);
      return true;
    }
    default:
      return setAttribute(network, link, operation);
  }
}

type AttributeOperation = Exclude<
  LinkChangeOperation,
  { kind: "addAddress" | "deleteAddress" | "setLearning" }
>;

function setAttribute(
  network: PodNetwork,
  link: KernelLink,
  operation: AttributeOperation,
): boolean {
  const set = (differs: boolean, change: Parameters<typeof setLink>[3]): boolean => {
    if (differs) setLink(network.kernel, link.index, link.name, change);
    return differs;
  };
  switch (operation.kind) {
    case "setUp":
      return set(!link.up, { up: true });
    case "setDown":
      return set(link.up && !isAsWanted(network, link, operation.unless), { up: false });
    case "rename":
      return set(link.name !== operation.to, { name: operation.to });
    case "setMac": {
      const mac = resolveMac(network, operation.mac);
      return set(link.mac !== mac, { mac });
    }
    case "setMtu":
      return set(link.mtu !== operation.mtu, { mtu: operation.mtu });
    case "setMaster": {
      const name = operation.master;
      const master = name === undefined ? undefined : present(network, { name }).index;
      return set(link.master !== master, { master: master ?? 0 });
    }
  }
}

function isAsWanted(
  network: PodNetwork,
  link: KernelLink,
  unless: { readonly name: string; readonly mac?: Mac | undefined } | undefined,
): boolean {
  if (!unless || link.name !== unless.name) return false;
  return unless.mac === undefined || link.mac === resolveMac(network, unless.mac);
}

function resolveMac(network: PodNetwork, mac: Mac): string {
  return typeof mac === "string" ? mac : present(network, { name: mac.sameAs }).mac;
}

function present({ kernel }: PodNetwork, ref: LinkRef): KernelLink {
  const link = findLink(kernel, ref);
  if (link) return link;
  const message = `the link ${ref.name} is gone from the Pod; check whether its CNI has removed it`;
  throw new NetworkSetupError("NETWORK_LINK_MISSING", message, { path: ref.name });
}

/**
 * A kernel without dummy links gets a bridge without ports: any link that is down can be the
 * placeholder.
 */
const substitutes = { dummy: "bridge" } as const;

function makeLink({ kernel }: PodNetwork, name: string, type: "bridge" | "dummy"): boolean {
  const found = findLink(kernel, { name });
  const substitute = type === "dummy" ? substitutes.dummy : type;
  if (found) {
    if (found.type === type || found.type === substitute) return false;
    const message = `the link ${name} exists and is a ${found.type}, not a ${type}; remove it`;
    throw new NetworkSetupError("NETWORK_LINK_CONFLICT", message, { path: name });
  }
  try {
    addLink(kernel, name, type);
  } catch (error) {
    if (substitute === type || !isRefusal(error, "EOPNOTSUPP", "ENOTSUP")) throw error;
    addLink(kernel, name, substitute);
  }
  return true;
}

async function addTap(
  { kernel, namespace }: PodNetwork,
  { link, mtu, queues, owner }: Extract<Operation, { kind: "addTap" }>,
): Promise<boolean> {
  if (findLink(kernel, link)) return false;
  const { descriptors } = await runIn([namespace], "createTap", {
    name: link.name,
    owner,
    group: owner,
    queues: Math.max(1, queues),
    ...(mtu > 0 ? { mtu } : {}),
  });
  // The device stays; QEMU opens its own queues.
  for (const queue of descriptors) queue.close();
  return true;
}

async function setSysctl({ namespace }: PodNetwork, name: string, value: string): Promise<boolean> {
  try {
    const found = await runIn([namespace], "readSysctl", { name });
    if (found.value.replaceAll(/\s+/g, " ") === value) return false;
    await runIn([namespace], "writeSysctl", { name, value });
    return true;
  } catch (error) {
    if (!hasErrno(error, "ENOENT")) throw error;
    const message = `the kernel has no setting ${name}; check whether the protocol is switched off`;
    throw new NetworkSetupError("NETWORK_KERNEL_REFUSED", message, { path: name, cause: error });
  }
}

function ignoring(errno: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (isRefusal(error, errno)) return false;
    throw error;
  }
}
