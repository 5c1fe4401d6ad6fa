import type { NatTable } from "./nat-rules.ts";
import { natCommands } from "./nat-text.ts";
import type { PodAddress, PodNeighbour, PodRoute } from "./pod-nic.ts";

/**
 * A link of the Pod's namespace: by its index if it existed before, because its name changes on the
 * way; by its name if the plan creates it.
 */
export interface LinkRef {
  readonly name: string;
  readonly index?: number;
}

/** One change of the Pod's network namespace, as plain data. */
export type Operation =
  | { readonly kind: "addLink"; readonly link: LinkRef; readonly type: "bridge" | "dummy" }
  | {
      readonly kind: "addTap";
      readonly link: LinkRef;
      readonly mtu: number;
      /** 0 and 1 both mean one queue. */
      readonly queues: number;
      /** User and group who may open it. */
      readonly owner: number;
      /** Process whose SELinux label the device gets. */
      readonly labelOf: number;
    }
  | {
      readonly kind: "deleteLink";
      readonly link: LinkRef;
      /** Indexes of links that existed before ours: such a link stays, even if it has that name. */
      readonly spare?: readonly number[];
    }
  | {
      readonly kind: "setDown";
      readonly link: LinkRef;
      /** Not needed once the link has this name and this MAC. */
      readonly unless?: { readonly name: string; readonly mac: Mac | undefined };
    }
  | { readonly kind: "setUp"; readonly link: LinkRef; readonly restores?: true }
  | { readonly kind: "rename"; readonly link: LinkRef; readonly to: string }
  | { readonly kind: "setMac"; readonly link: LinkRef; readonly mac: Mac }
  | { readonly kind: "setMtu"; readonly link: LinkRef; readonly mtu: number }
  | { readonly kind: "setMaster"; readonly link: LinkRef; readonly master: string | undefined }
  | { readonly kind: "addAddress"; readonly link: LinkRef; readonly address: PodAddress }
  | { readonly kind: "deleteAddress"; readonly link: LinkRef; readonly address: PodAddress }
  | { readonly kind: "setLearning"; readonly link: LinkRef; readonly on: boolean }
  | {
      readonly kind: "restoreRoutes";
      readonly link: LinkRef;
      readonly routes: readonly PodRoute[];
      readonly neighbours: readonly PodNeighbour[];
    }
  | { readonly kind: "setSysctl"; readonly name: string; readonly value: string }
  | { readonly kind: "addNat"; readonly tables: readonly NatTable[] }
  | { readonly kind: "deleteNat"; readonly tables: readonly NatTable[] };

/** A MAC address, or the one that another link turns out to have. */
export type Mac = string | { readonly sameAs: string };

/** A change and its undo. */
export interface Step {
  /** The VMI's network that it belongs to; `""` if it is for the whole namespace. */
  readonly network: string;
  readonly operation: Operation;
  /** In the order in which they are to be carried out. */
  readonly undo: readonly Operation[];
}

/** An operation as one or more lines of text, for people. */
export function operationText(operation: Operation): readonly string[] {
  switch (operation.kind) {
    case "setSysctl":
      return [`sysctl ${operation.name.replaceAll("/", ".")}=${operation.value}`];
    case "addNat":
      return operation.tables.flatMap(natCommands);
    case "deleteNat":
      return operation.tables.map(({ family }) => `delete the chains of table ${family} nat`);
    default:
      return [linkOperationText(operation)];
  }
}

type LinkOperation = Exclude<Operation, { kind: "setSysctl" | "addNat" | "deleteNat" }>;

function linkOperationText(operation: LinkOperation): string {
  const { name } = operation.link;
  switch (operation.kind) {
    case "addLink":
      return `link-add ${name} type ${operation.type}`;
    case "addTap": {
      const { mtu, queues, owner, labelOf } = operation;
      return `tap-add ${name} mtu ${mtu} queues ${queues} owner ${owner} selinux-from-pid ${labelOf}`;
    }
    case "deleteLink":
      return `link-del ${name}`;
    case "addAddress":
      return `addr-add ${operation.address.cidr} dev ${name}`;
    case "deleteAddress":
      return `addr-del ${operation.address.cidr} dev ${name}`;
    case "restoreRoutes":
      return `restore ${operation.routes.length} routes and ${operation.neighbours.length} neighbours of ${name}`;
    default:
      return `link-set ${name} ${settingText(operation)}`;
  }
}

type SetOperation = Exclude<
  LinkOperation,
  { kind: "addLink" | "addTap" | "deleteLink" | "addAddress" | "deleteAddress" | "restoreRoutes" }
>;

function settingText(operation: SetOperation): string {
  switch (operation.kind) {
    case "setDown":
      return "down";
    case "setUp":
      return "up";
    case "rename":
      return `name ${operation.to}`;
    case "setMac":
      return `address ${macText(operation.mac)}`;
    case "setMtu":
      return `mtu ${operation.mtu}`;
    case "setMaster":
      return operation.master === undefined ? "nomaster" : `master ${operation.master}`;
    case "setLearning":
      return `learning ${operation.on ? "on" : "off"}`;
  }
}

function macText(mac: Mac): string {
  return typeof mac === "string" ? mac : `of ${mac.sameAs}`;
}
