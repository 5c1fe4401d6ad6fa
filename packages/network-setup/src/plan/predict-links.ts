import { NetworkSetupError } from "../network-setup-error.ts";
import type { LinkRef, Operation } from "./operation.ts";
import type { PodNic } from "./pod-nic.ts";

/** A future link; `newMac` provides what only the kernel knows. */
export interface PredictedLink {
  name: string;
  readonly index: number;
  readonly type: string;
  mac: string;
  mtu: number;
  state: string;
  master: number | undefined;
  addresses: string[];
}

/** A model of a namespace's links: what operations would make of them. */
export interface LinkModel {
  readonly links: readonly PredictedLink[];
  /**
   * Carries out one operation; throws a {@link NetworkSetupError} if a link that it names is
   * missing.
   */
  apply(operation: Operation): void;
  /** The MAC that a link has now. */
  macOf(name: string): string;
}

const newLinkMtu = 1500;

/**
 * A model of the links in a namespace. `newMac` returns the MAC that the kernel will give to a new
 * link with an index; without it, the MAC is unknown (`""`).
 */
export function linkModel(
  nics: readonly PodNic[],
  newMac: (index: number) => string = () => "",
): LinkModel {
  const links: PredictedLink[] = nics.map(({ addresses, master, ...nic }) => ({
    name: nic.name,
    index: nic.index,
    type: nic.type,
    mac: nic.mac,
    mtu: nic.mtu,
    state: nic.state,
    master,
    addresses: addresses.map(({ cidr }) => cidr),
  }));
  const find = ({ name, index }: LinkRef): PredictedLink => {
    const found = links.find((link) =>
      index === undefined ? link.name === name : link.index === index,
    );
    if (found) return found;
    const message = `there is no link ${name}`;
    throw new NetworkSetupError("NETWORK_LINK_MISSING", message, { path: name });
  };
  const add = (name: string, type: string, mtu: number): void => {
    const index = Math.max(0, ...links.map((link) => link.index)) + 1;
    const state = { mac: newMac(index), mtu, state: "down", master: undefined, addresses: [] };
    links.push({ name, index, type, ...state });
  };
  return {
    links,
    macOf: (name) => find({ name }).mac,
    apply(operation) {
      switch (operation.kind) {
        case "addLink":
          return add(operation.link.name, operation.type, newLinkMtu);
        case "addTap":
          return add(operation.link.name, "tap", operation.mtu || newLinkMtu);
        case "deleteLink":
          return void links.splice(links.indexOf(find(operation.link)), 1);
        case "setSysctl":
        case "addNat":
        case "deleteNat":
        case "setLearning":
        case "restoreRoutes":
          return;
        default:
          change(find(operation.link), operation, find);
      }
    },
  };
}

type Change = Extract<
  Operation,
  {
    kind:
      | "setDown"
      | "setUp"
      | "rename"
      | "setMac"
      | "setMtu"
      | "setMaster"
      | "addAddress"
      | "deleteAddress";
  }
>;

function change(
  link: PredictedLink,
  operation: Change,
  find: (ref: LinkRef) => PredictedLink,
): void {
  switch (operation.kind) {
    case "setDown":
      link.state = "down";
      break;
    case "setUp":
      link.state = "up";
      break;
    case "rename":
      link.name = operation.to;
      break;
    case "setMac": {
      const { mac } = operation;
      link.mac = typeof mac === "string" ? mac : find({ name: mac.sameAs }).mac;
      break;
    }
    case "setMtu":
      link.mtu = operation.mtu;
      break;
    case "setMaster":
      link.master =
        operation.master === undefined ? undefined : find({ name: operation.master }).index;
      break;
    case "addAddress":
      link.addresses = [...new Set([...link.addresses, operation.address.cidr])];
      break;
    case "deleteAddress":
      link.addresses = link.addresses.filter((cidr) => cidr !== operation.address.cidr);
      break;
  }
}
