import type { ClusterConfig } from "@virtkit/api/config";
import {
  type Handover,
  type Holder,
  isSameHolder,
  type ReadGrant,
  readTargetHolder,
  targetHolderAnnotation,
  writeTargetHolder,
} from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry } from "@virtkit/api/shape";
import { failedMigrationEvent, type PlannedEvent } from "@virtkit/api/status";
import type { DomainStatus } from "@virtkit/domain-manager";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import { type Encryption, encryptionOf } from "@virtkit/migration/policy";
import {
  cleanedUp,
  finalized,
  type MigratingDomain,
  planTargetStep,
  targetStatus,
} from "@virtkit/migration/target/agent";
import { first, isUnderWay, type LauncherWord, timeOf } from "./launcher-attempt.ts";
import { isSameListener, type Listener, listenerOf, withListener } from "./listener.ts";

/** What the duty of a target is based on. */
export interface TargetView {
  readonly vmi: VirtualMachineInstance;
  readonly grant: ReadGrant;
  /** The incarnation on this node that should receive the guest. */
  readonly holder: Holder;
  readonly node: string;
  /** As last reported by its launcher; undefined if there is no report. */
  readonly domain: Pick<DomainStatus, "state" | "reason"> | undefined;
  /** What the launcher reports about the migration; undefined if it does not answer. */
  readonly word: LauncherWord | undefined;
  /** Whether its launcher is proven to have ended. */
  readonly hasEnded: boolean;
  /** For how many milliseconds `whyDead` has had a reason. */
  readonly deadFor: number;
  /** Undefined if nothing listens. */
  readonly listener: Listener | undefined;
  /** Why this node can never receive the guest, such as a certificate that it does not get; undefined if nothing is known. */
  readonly unfit?: string | undefined;
  readonly config: ClusterConfig;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What the target's node agent does next. */
export type TargetAct =
  | { readonly do: "nothing" }
  /** Prepares the sandbox as for its own guest, and opens the connection. */
  | { readonly do: "prepare"; readonly encryption: Encryption }
  /** Opens the connection once more, for a guest whose post-copy must be recovered over it. */
  | { readonly do: "reopen"; readonly encryption: Encryption }
  /** Makes the launcher wait for the guest that the grant hands over to it. */
  | {
      readonly do: "receive";
      readonly migration: MigrationIdentity;
      /** Who must have encrypted the data. */
      readonly encryption: Encryption;
    }
  /** Ends the launcher, which gets no guest. `isEmpty`: it reports itself that its copy has ended. */
  | { readonly do: "dismiss"; readonly isEmpty: boolean };

/** The duty of a target in one pass. */
export interface TargetDuty {
  readonly act: TargetAct;
  /** The VMI as it should be afterwards, if it differs. */
  readonly vmi?: VirtualMachineInstance;
  readonly events: readonly PlannedEvent[];
  /** Whether the connection is no longer needed. */
  readonly closeWay: boolean;
  readonly requeueSeconds?: number;
}

/** The handover in a grant, if this incarnation is its target. */
export function handoverTo(grant: ReadGrant, holder: Holder): Handover | undefined {
  return "target" in grant && isSameHolder(grant.target, holder) ? grant : undefined;
}

/**
 * Plans what the node agent of a target does. Nothing is received that the grant does not hand over, and a
 * launcher is dismissed only if neither the grant nor its own report says that the guest may be in it.
 *
 * @throws MigrationError if the VMI is not shaped like one.
 */
export function planTargetDuty(view: TargetView): TargetDuty {
  const { vmi, grant, holder, word, config } = view;
  if (hasArrived(view)) {
    const arrived = arrivedVmi(vmi, view);
    return { ...idle, vmi: arrived.vmi, events: arrived.events, closeWay: true };
  }
  const handover = handoverTo(grant, holder);
  const dead = whyDead(view);
  if (handover && dead !== undefined) {
    return view.deadFor < sourcePatience ? { ...idle, ...again } : failure(view, dead);
  }
  if (handover?.state === "Committed" && isUnderWay(word)) return splitGuest(view, handover);
  const facts = { ...view, domain: domainOf(view), names: config.names };
  const { step } = planTargetStep(vmi, { ...facts, isListening: view.listener !== undefined });
  switch (step.step) {
    case "undo":
    case "clean-up":
      return handover ? undecided(view) : dismissal(view);
    case "prepare":
      // A launcher that has begun to receive gets no other request.
      if (view.unfit !== undefined) {
        return { ...failure(view, view.unfit), act: idle.act };
      }
      return { ...idle, act: { do: "prepare", encryption: encryptionOf(vmi, config) } };
    default:
  }
  const published = view.listener && publish(view);
  if (handover?.state === "HandingOver" && word === "unbegun" && view.listener) {
    const { migrationUID, vmiUID, epoch, seq } = handover;
    const migration = { migrationUID, vmiUID, epoch, seq };
    const encryption = encryptionOf(vmi, config);
    return { ...idle, ...published, act: { do: "receive", migration, encryption }, ...again };
  }
  return { ...idle, ...published, ...again };
}

/**
 * After the switch to post-copy, a target whose agent was restarted listens again, on other ports. Its source learns them from
 * the VMI: without a connection, the guest's memory stays in two places.
 */
function splitGuest({ vmi, listener, config }: TargetView, { migrationUID }: Handover): TargetDuty {
  if (!listener) {
    return { ...idle, act: { do: "reopen", encryption: encryptionOf(vmi, config) }, ...again };
  }
  const state = vmi.status?.migrationState;
  const isToldSo = isSameListener(listenerOf(state, migrationUID), listener);
  if (state?.migrationUid !== migrationUID || isToldSo) return { ...idle, ...again };
  const migrationState = withListener(state, listener);
  return { ...idle, vmi: { ...vmi, status: { ...vmi.status, migrationState } }, ...again };
}

const idle = { act: { do: "nothing" }, events: [], closeWay: false } as const;
/** Milliseconds for a source that has ended the copy itself to take the guest back, and to report why. */
const sourcePatience = 8_000;
/** The awaited writes of others arrive through the watch; this covers those that are missed. */
const again = { requeueSeconds: 5 } as const;

/**
 * A launcher that the grant still names, for a migration that nobody wants. Its source decides, and the grant
 * says how; but one that was never asked to receive has no copy, and would wait forever.
 */
function undecided({ word }: TargetView): TargetDuty {
  const act = word === "unbegun" ? ({ do: "dismiss", isEmpty: true } as const) : idle.act;
  return { ...idle, act, ...again };
}

/** A launcher whose guest will not arrive. */
function dismissal({ word, vmi, config, hasEnded }: TargetView): TargetDuty {
  if (!hasEnded && (word === undefined || isUnderWay(word))) return { ...idle, ...again };
  const after = cleanedUp(vmi, config.names);
  const act = hasEnded ? idle.act : ({ do: "dismiss", isEmpty: false } as const);
  return { ...idle, act, vmi: after, closeWay: true };
}

/** Why the guest can never arrive at this launcher; undefined if it can. */
export function whyDead({
  hasEnded,
  word,
}: Pick<TargetView, "hasEnded" | "word">): string | undefined {
  if (hasEnded) return "the target's launcher has ended";
  if (word === undefined || word === "unbegun") return undefined;
  const isOver = word.settled === "ended" || word.settled === "lost";
  return isOver ? (word.why ?? "the target's copy has ended") : undefined;
}

/**
 * Reports that the migration has failed, so that the source takes the guest back, or nobody waits for either copy.
 */
function failure({ vmi, now, hasEnded }: TargetView, why: string): TargetDuty {
  const act = hasEnded ? idle.act : ({ do: "dismiss", isEmpty: true } as const);
  const state = vmi.status?.migrationState ?? {};
  const quiet = { ...idle, act, closeWay: true, ...again };
  if (state.completed) return quiet;
  const time = timeOf(now);
  const migrationState = {
    ...state,
    ...{ failed: true, completed: true, failureReason: state.failureReason ?? why },
    ...(time ? { endTimestamp: state.endTimestamp ?? time } : {}),
  };
  const events = [failedMigrationEvent(state.migrationUid ?? "", migrationState.failureReason)];
  return { ...quiet, events, vmi: { ...vmi, status: { ...vmi.status, migrationState } } };
}

/** Whether this incarnation has the guest, and the VMI does not say so yet. */
function hasArrived({ vmi, grant, holder, node, config }: TargetView): boolean {
  if (grant.state !== "Claimed" || !isSameHolder(grant.holder, holder)) return false;
  const { labels } = config.names;
  const isTold = vmi.status?.nodeName === node && vmi.status.migrationState?.completed === true;
  return !isTold || entry(vmi.metadata?.labels, labels.migrationTargetNodeName) === node;
}

/**
 * The VMI of a guest that has arrived on this node and runs here, or is paused as its user left it: everything that
 * KubeVirt's agents write in three passes. An earlier report of a failure was wrong.
 */
export function arrivedVmi(
  vmi: VirtualMachineInstance,
  { node, now, word, config }: Pick<TargetView, "node" | "now" | "word" | "config">,
): { readonly vmi: VirtualMachineInstance; readonly events: readonly PlannedEvent[] } {
  const { names } = config;
  const {
    failed: _,
    completed: __,
    endTimestamp: ___,
    ...state
  } = vmi.status?.migrationState ?? {};
  const report = word === "unbegun" ? undefined : word;
  const began = state.startTimestamp ?? timeOf((report && first(report)) ?? now);
  const domain: MigratingDomain = {
    vmiUid: vmi.metadata?.uid,
    state: "Running",
    migration: {
      uid: state.migrationUid ?? "",
      ...(began ? { startTimestamp: began } : {}),
      endTimestamp: timeOf(now),
    },
  };
  const open = { ...vmi, status: { ...vmi.status, migrationState: state } };
  const told = targetStatus(open, { node, domain, now, names });
  return { vmi: cleanedUp(finalized(told.vmi, names), names), events: told.events };
}

/** Publishes where the target listens, and its incarnation. */
function publish(view: TargetView): Pick<TargetDuty, "vmi" | "events"> {
  const { listener, holder, config, node, now } = view;
  const { names } = config;
  const vmi = withoutStaleAddress(view);
  const facts = { node, domain: domainOf(view), now, names, ...(listener ? { listener } : {}) };
  const told = targetStatus(vmi, facts);
  const key = names.own(targetHolderAnnotation);
  const { annotations } = told.vmi.metadata ?? {};
  const migrationUID = vmi.status?.migrationState?.migrationUid ?? "";
  const known = readTargetHolder(entry(annotations, key));
  const isSaid = known?.migrationUID === migrationUID && isSameHolder(known.holder, holder);
  const value = isSaid ? {} : { [key]: writeTargetHolder({ migrationUID, holder }) };
  return {
    vmi: {
      ...told.vmi,
      metadata: { ...told.vmi.metadata, annotations: { ...annotations, ...value } },
    },
    events: told.events,
  };
}

/** A restarted agent listens on other ports, which a source that has not begun must learn. */
function withoutStaleAddress({ vmi, listener }: TargetView): VirtualMachineInstance {
  const { targetNodeAddress: _, ...state } = vmi.status?.migrationState ?? {};
  const before = JSON.stringify(state.targetDirectMigrationNodePorts ?? {});
  const isSame = before === JSON.stringify(listener?.ports ?? {});
  if (isSame || state.startTimestamp) return vmi;
  return { ...vmi, status: { ...vmi.status, migrationState: state } };
}

/** Until the launcher has a claim, its copy is not a guest: the plan knows none. */
function domainOf({ vmi, domain, word }: TargetView): MigratingDomain | undefined {
  if (!domain || word === undefined || word === "unbegun" || word.settled !== "runs") {
    return undefined;
  }
  return { vmiUid: vmi.metadata?.uid, state: domain.state, reason: domain.reason };
}
