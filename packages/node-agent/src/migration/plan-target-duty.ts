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
import type { PlannedEvent } from "@virtkit/api/status";
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

/** Where a target listens, and which ports of its QEMU are behind which ports of the node. */
export interface Listener {
  readonly address: string;
  readonly ports: Readonly<Record<string, number>>;
}

/** All that the duty of a target goes by. */
export interface TargetView {
  readonly vmi: VirtualMachineInstance;
  readonly grant: ReadGrant;
  /** The incarnation on this node that is to receive the guest. */
  readonly holder: Holder;
  readonly node: string;
  /** As its launcher has told it last; undefined where that has said nothing. */
  readonly domain: Pick<DomainStatus, "state" | "reason"> | undefined;
  /** What the launcher says of the migration; undefined where it does not answer. */
  readonly word: LauncherWord | undefined;
  /** Whether its launcher is proven to have ended. */
  readonly hasEnded: boolean;
  /** For how many milliseconds {@link whyDead} has been so. */
  readonly deadFor: number;
  /** Undefined where nobody can come in. */
  readonly listener: Listener | undefined;
  /** Why this node gets no certificate for the migration; undefined where it has one, or has not asked. */
  readonly uncertified?: string | undefined;
  readonly config: ClusterConfig;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What the target's node agent does next. */
export type TargetAct =
  | { readonly do: "nothing" }
  /** Prepares the sandbox as for a guest of its own, and opens the way in. */
  | { readonly do: "prepare"; readonly encryption: Encryption }
  /** Has the launcher wait for the guest, which the grant hands over to it. */
  | {
      readonly do: "receive";
      readonly migration: MigrationIdentity;
      /** Who must have encrypted what comes. */
      readonly encryption: Encryption;
    }
  /** Has the launcher end, which gets no guest. `isEmpty`: it says itself that its copy has ended. */
  | { readonly do: "dismiss"; readonly isEmpty: boolean };

/** The duty of a target in one pass. */
export interface TargetDuty {
  readonly act: TargetAct;
  /** The VMI as it should be once that is done, where it differs. */
  readonly vmi?: VirtualMachineInstance;
  readonly events: readonly PlannedEvent[];
  /** Whether the way in is of no use any more. */
  readonly closeWay: boolean;
  readonly requeueSeconds?: number;
}

/** The handover that a grant tells of, if this incarnation is its target. */
export function handoverTo(grant: ReadGrant, holder: Holder): Handover | undefined {
  return "target" in grant && isSameHolder(grant.target, holder) ? grant : undefined;
}

/**
 * Plans what the node agent of a target does. Nothing is received that the grant does not hand over, and a launcher is
 * dismissed only where neither the grant nor its own word says that the guest may be in it.
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
  const facts = { ...view, domain: domainOf(view), names: config.names };
  const { step } = planTargetStep(vmi, { ...facts, isListening: view.listener !== undefined });
  switch (step.step) {
    case "undo":
    case "clean-up":
      // Its source decides, and the grant says how.
      return handover ? { ...idle, ...again } : dismissal(view);
    case "prepare":
      // One that has begun to receive is asked for nothing else.
      if (view.uncertified !== undefined) {
        return { ...failure(view, view.uncertified), act: idle.act };
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

const idle = { act: { do: "nothing" }, events: [], closeWay: false } as const;
/** Milliseconds in which a source that has ended the copy itself takes the guest back, and says why. */
const sourcePatience = 8_000;
/** Others write what is waited for, and their writes are seen; this is for those that are missed. */
const again = { requeueSeconds: 5 } as const;

/** A launcher whose guest will not come. */
function dismissal({ word, vmi, config, hasEnded }: TargetView): TargetDuty {
  if (!hasEnded && (word === undefined || isUnderWay(word))) return { ...idle, ...again };
  const after = cleanedUp(vmi, config.names);
  const act = hasEnded ? idle.act : ({ do: "dismiss", isEmpty: false } as const);
  return { ...idle, act, vmi: after, closeWay: true };
}

/** Why the guest can never come to this launcher; undefined where it can. */
export function whyDead({
  hasEnded,
  word,
}: Pick<TargetView, "hasEnded" | "word">): string | undefined {
  if (hasEnded) return "the target's launcher has ended";
  if (word === undefined || word === "unbegun") return undefined;
  const isOver = word.settled === "ended" || word.settled === "lost";
  return isOver ? (word.why ?? "the target's copy has ended") : undefined;
}

/** Says that the migration has failed, so that the source takes the guest back, or that nobody waits for either copy. */
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
  return { ...quiet, vmi: { ...vmi, status: { ...vmi.status, migrationState } } };
}

/** Whether the guest is this incarnation's, and the VMI does not say so yet. */
function hasArrived({ vmi, grant, holder, node, config }: TargetView): boolean {
  if (grant.state !== "Claimed" || !isSameHolder(grant.holder, holder)) return false;
  const { labels } = config.names;
  const isTold = vmi.status?.nodeName === node && vmi.status.migrationState?.completed === true;
  return !isTold || entry(vmi.metadata?.labels, labels.migrationTargetNodeName) === node;
}

/**
 * The VMI of a guest that has arrived on this node and runs here, or is paused as its user left it: all that KubeVirt's agents
 * say of it in three passes. What was said of a failure was wrong.
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

/** Says where the target listens, and which incarnation it is. */
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

/** An agent that was started again listens on other ports, which a source that has not begun must hear of. */
function withoutStaleAddress({ vmi, listener }: TargetView): VirtualMachineInstance {
  const { targetNodeAddress: _, ...state } = vmi.status?.migrationState ?? {};
  const before = JSON.stringify(state.targetDirectMigrationNodePorts ?? {});
  const isSame = before === JSON.stringify(listener?.ports ?? {});
  if (isSame || state.startTimestamp) return vmi;
  return { ...vmi, status: { ...vmi.status, migrationState: state } };
}

/** Until the launcher has a claim its copy is no guest: the plan knows none. */
function domainOf({ vmi, domain, word }: TargetView): MigratingDomain | undefined {
  if (!domain || word === undefined || word === "unbegun" || word.settled !== "runs") {
    return undefined;
  }
  return { vmiUid: vmi.metadata?.uid, state: domain.state, reason: domain.reason };
}
