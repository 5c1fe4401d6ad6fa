import { decodeGrant, grantAnnotation, targetHolderAnnotation } from "../grant/index.ts";
import type { Names } from "../names/index.ts";
import { at, entry, isSet, object, text } from "../shape.ts";
import { migrationTransferAnnotation } from "../status/migration-transfer.ts";
import { mayChangeGrant } from "./agent-grant-change.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type Cause, fine, invalid } from "./cause.ts";
import type { ServiceAccounts } from "./service-accounts.ts";

/** A write to the API server, and its author; objects may be any JSON value. */
export interface ComponentWrite {
  /** As in a path: `virtualmachineinstances`, `nodes`. */
  readonly resource: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly name?: string;
  readonly object?: unknown;
  readonly oldObject?: unknown;
  readonly username?: string;
  readonly userExtra?: Readonly<Record<string, readonly string[]>>;
}

/** Options of {@link nodeAgentCauses}. */
export interface NodeAgentRuleOptions {
  readonly names: Names;
  readonly accounts: ServiceAccounts;
}

const nodeNameExtra = "authentication.kubernetes.io/node-name";

/**
 * Why a node agent may not make a write; empty if it may, or if the writer is not a node agent. All agents share
 * one account, and a ClusterRole cannot distinguish nodes, so this checks the node that the agent's token is bound
 * to. An agent may change its own Node. Of VMIs that are on its node or move to it, it may change the status, and
 * the run grant by the steps of {@link mayChangeGrant}.
 */
export function nodeAgentCauses(
  write: ComponentWrite,
  { names, accounts }: NodeAgentRuleOptions,
): readonly Cause[] {
  if (!accounts.isHandler(write.username)) return fine;
  const node = write.userExtra?.[nodeNameExtra]?.[0];
  if (!isSet(node) || node === "") {
    return invalid(
      "metadata",
      `cannot be changed by ${write.username}, whose token is not bound to a node; run the agent as a Pod of its node`,
    );
  }
  if (write.resource === "nodes") return ownNode(write, node);
  return write.resource === "virtualmachineinstances" ? ownVmi(write, node, names) : fine;
}

function ownNode({ operation, name }: ComponentWrite, node: string): readonly Cause[] {
  if (operation === "UPDATE" && name === node) return fine;
  return invalid(
    "metadata.name",
    `is ${name}, but the agent of ${node} may only change its own Node`,
  );
}

function ownVmi(write: ComponentWrite, node: string, names: Names): readonly Cause[] {
  const { operation, object: now, oldObject: old } = write;
  if (operation !== "UPDATE") {
    return invalid(
      "metadata",
      `says that the agent of ${node} creates or deletes a VMI; it may not`,
    );
  }
  if (!concerns(old, node, names)) {
    return invalid("status.nodeName", `is not ${node}, whose agent may not change the VMI`);
  }
  const changed = foreignChange(old, now, node, names);
  if (changed) return invalid(changed, `cannot be changed by the agent of ${node}`);
  const after = text(at(now, "status", "nodeName"));
  if (after !== text(at(old, "status", "nodeName")) && after !== node) {
    return invalid(
      "status.nodeName",
      `would become ${after}, but ${node} can only take over a VMI`,
    );
  }
  return ownGrant(old, now, node, names);
}

/** Whether a VMI is on a node, or is moving to it. */
function concerns(vmi: unknown, node: string, { labels }: Names): boolean {
  const own = at(vmi, "metadata", "labels");
  return [
    text(at(vmi, "status", "nodeName")),
    text(at(vmi, "status", "migrationState", "targetNode")),
    entry(own, labels.nodeName),
    entry(own, labels.migrationTargetNodeName),
  ].includes(node);
}

/** The first changed field that does not belong to an agent. */
function foreignChange(old: unknown, now: unknown, node: string, names: Names): string | undefined {
  const { createMigrationTarget, evictionSource } = names.annotations;
  const isComing = comesTo(old, node);
  const own = [
    ...[names.own(grantAnnotation), createMigrationTarget],
    // Who receives, and that nobody waits any more for the guest to leave.
    ...(isComing ? [names.own(targetHolderAnnotation), evictionSource] : []),
    // The progress of the guest that leaves.
    ...(leavesFrom(old, node) ? [names.own(migrationTransferAnnotation)] : []),
  ];
  const others = (vmi: unknown): string => {
    const all = Object.entries(object(at(vmi, "metadata", "annotations")));
    return canonicalJson(Object.fromEntries(all.filter(([key]) => !own.includes(key))));
  };
  if (canonicalJson(at(old, "spec")) !== canonicalJson(at(now, "spec"))) return "spec";
  if (!areLabelsOwn(old, now, node, names)) return "metadata.labels";
  for (const field of ["finalizers", "ownerReferences"]) {
    const [before, after] = [old, now].map((vmi) => canonicalJson(at(vmi, "metadata", field)));
    if (before !== after) return `metadata.${field}`;
  }
  return others(old) === others(now) ? undefined : "metadata.annotations";
}

/** Whether all changed labels are those with which a node takes over a VMI that was moving to it. */
function areLabelsOwn(old: unknown, now: unknown, node: string, { labels }: Names): boolean {
  const [before, after] = [old, now].map((vmi) => object(at(vmi, "metadata", "labels")));
  const changed = Object.keys({ ...before, ...after }).filter(
    (key) => canonicalJson(entry(before, key)) !== canonicalJson(entry(after, key)),
  );
  // What waited for a new launcher.
  const spent: readonly string[] = [
    ...[labels.outdatedLauncherImage, labels.podCpuLimits],
    ...[labels.podMemoryRequests, labels.memoryHotplugOverheadRatio],
  ];
  return changed.every((key) => {
    if (key === labels.migrationTargetNodeName) {
      return entry(before, key) === node && entry(after, key) === undefined;
    }
    if (!comesTo(old, node)) return false;
    return key === labels.nodeName
      ? entry(after, key) === node
      : spent.includes(key) && entry(after, key) === undefined;
  });
}

/** Whether a VMI should move to a node. */
function comesTo(vmi: unknown, node: string): boolean {
  return text(at(vmi, "status", "migrationState", "targetNode")) === node;
}

/** Whether a VMI is on a node, and should leave it. */
function leavesFrom(vmi: unknown, node: string): boolean {
  const from = text(at(vmi, "status", "migrationState", "sourceNode"));
  return from === node && text(at(vmi, "status", "nodeName")) === node;
}

/** An agent changes the run grant only by its own steps, with evidence of its own node. */
function ownGrant(old: unknown, now: unknown, node: string, names: Names): readonly Cause[] {
  const key = names.own(grantAnnotation);
  const [before, after] = [old, now].map((vmi) => entry(at(vmi, "metadata", "annotations"), key));
  if (before === after) return fine;
  const uid = text(at(old, "metadata", "uid"));
  const [from, to] = [decodeGrant(before, uid), decodeGrant(after, uid)];
  const isHere = text(at(old, "status", "nodeName")) === node;
  const phase = text(at(now, "status", "phase"));
  const isFinal = phase === "Failed" || phase === "Succeeded";
  if (mayChangeGrant(from, to, { node, isHere, isFinal })) return fine;
  return invalid(
    `metadata.annotations[${key}]`,
    `cannot be changed from ${from.state} to ${to.state} by the agent of ${node}: an agent may claim a guest only for its own node, and may decide about or end only a guest on its own node`,
  );
}
