import type { ClusterConfig } from "@virtkit/api/config";
import { type Handover, type Holder, isSameHolder, type ReadGrant } from "@virtkit/api/grant";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { failedMigrationEvent, isFinal, type PlannedEvent } from "@virtkit/api/status";
import type { DomainStatus } from "@virtkit/domain-manager";
import type { MigrationReport } from "@virtkit/launcher/client";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import { type Encryption, encryptionOf } from "@virtkit/migration/policy";
import {
  type MigratingDomain,
  planSourcePass,
  type SourcePass,
  type SourceStep,
} from "@virtkit/migration/source/agent";
import { isUnderWay, type LauncherWord, sourceAttempt, timeOf } from "./launcher-attempt.ts";
import { isSameListener, type Listener, listenerOf } from "./listener.ts";
import { transferNote } from "./transfer-note.ts";

/** What the duty of a source is based on. */
export interface SourceView {
  readonly vmi: VirtualMachineInstance;
  readonly grant: ReadGrant;
  /** The incarnation that has the guest on this node. */
  readonly holder: Holder;
  readonly node: string;
  /** As last reported by its launcher; undefined if there is no report. */
  readonly domain: Pick<DomainStatus, "state" | "reason"> | undefined;
  /** What the launcher reports about {@link movingUid}; undefined if it does not answer. */
  readonly word: LauncherWord | undefined;
  /** Whether its launcher is proven to have ended. */
  readonly hasEnded: boolean;
  /** Where the open connection to the target leads; undefined if none is open. */
  readonly wayTo?: Listener | undefined;
  /** Why the migration could not begin for so long that it is given up. */
  readonly hopeless?: string | undefined;
  readonly config: ClusterConfig;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What the source's node agent does next. */
export type SourceAct =
  | { readonly do: "nothing" }
  /** Opens the connection to the target, and makes the launcher begin. */
  | {
      readonly do: "begin";
      readonly migration: MigrationIdentity;
      readonly order: Extract<SourceStep, { step: "migrate" }>;
      /** Who encrypts the data. */
      readonly encryption: Encryption;
    }
  /** Opens the connection to the target once more: the launcher recovers its post-copy over it. */
  | {
      readonly do: "reopen";
      readonly migrationUID: string;
      readonly target: Listener;
      readonly encryption: Encryption;
    }
  /** Makes the launcher decide that the guest stays; rejected if it is too late, and then the guest moves. */
  | { readonly do: "cancel"; readonly migrationUID: string; readonly reason: string }
  /**
   * The same for a migration that the launcher was never asked to begin: it never will, and the grant says
   * so. `isDecided`: the decision is on the launcher's disk, and only the grant lacks it.
   */
  | {
      readonly do: "take-back";
      readonly migrationUID: string;
      readonly reason: string;
      readonly isDecided: boolean;
    }
  /** The guest has left: libvirt forgets it, and the launcher ends. */
  | { readonly do: "leave" };

/** The duty of a source in one pass. */
export interface SourceDuty {
  readonly act: SourceAct;
  /**
   * Whether the migration is responsible for the guest: nothing else is done to it, and nothing is reported about
   * it.
   */
  readonly owns: boolean;
  /** What the VMI's status says about the migration, if that changes. */
  readonly migrationState?: VirtualMachineInstanceMigrationState;
  /** What the VMI says about the progress of the migration, if that changes. */
  readonly transfer?: string;
  readonly events: readonly PlannedEvent[];
  /** Whether the connection to the target is no longer needed. */
  readonly closeWay: boolean;
  readonly requeueSeconds?: number;
}

/** The handover in a grant, if this incarnation is its source. */
export function handoverFrom(grant: ReadGrant, holder: Holder): Handover | undefined {
  return "target" in grant && isSameHolder(grant.holder, holder) ? grant : undefined;
}

/** The migration that a source's launcher is asked about; undefined if there is none. */
export function movingUid(
  { vmi, grant, holder }: Pick<SourceView, "vmi" | "grant" | "holder">,
  node: string,
): string | undefined {
  const handover = handoverFrom(grant, holder);
  if (handover) return handover.migrationUID;
  const { sourceNode, migrationUid } = vmi.status?.migrationState ?? {};
  return sourceNode === node ? migrationUid : undefined;
}

/**
 * Plans what the node agent of a source does: whatever the VMI says, a grant that is handed over is brought to
 * an end. The launcher begins only what the grant hands over, and what nobody wants any more is taken back.
 *
 * @throws MigrationError if the VMI or its options are not shaped as they must be.
 */
export function planSourceDuty(view: SourceView): SourceDuty {
  const { vmi, grant, holder } = view;
  const handover = handoverFrom(grant, holder);
  const pass = planSourcePass(vmi, { ...view, domain: domainOf(view) });
  const transfer = transferNote(vmi, { ...view, names: view.config.names });
  const told = {
    ...(pass.migrationState ? { migrationState: pass.migrationState } : {}),
    ...(transfer === undefined ? {} : { transfer }),
    events: [...pass.events, ...("events" in pass.step && handover ? pass.step.events : [])],
  };
  if (!handover) {
    const owns = isUnderWay(view.word);
    const lost = owns ? undefined : lostHere(view);
    const state = lost && { migrationState: lost, events: [...told.events, failed(lost)] };
    return { ...told, ...state, act: nothing, owns, closeWay: !owns, ...(owns ? again : {}) };
  }
  // Its memory is gone: the target claims by a release that it has, or reports that it has ended, too.
  if (view.hasEnded) {
    const isOver = vmi.status?.migrationState?.completed === true;
    return { ...told, act: nothing, owns: !isOver, closeWay: true, ...again };
  }
  const act = actFor(view, handover, pass);
  const isOver = view.word !== undefined && view.word !== "unbegun" && !isUnderWay(view.word);
  return { ...told, act, owns: true, closeWay: isOver, ...again };
}

/** The guest is this launcher's, which has ended: nobody else says that the migration is over. */
function lostHere(view: SourceView): VirtualMachineInstanceMigrationState | undefined {
  const { vmi, grant, holder, node, hasEnded, now } = view;
  const state = vmi.status?.migrationState;
  const isOwn = grant.state === "Claimed" && isSameHolder(grant.holder, holder);
  if (!hasEnded || !isOwn || !state?.migrationUid || state.completed) return undefined;
  if (state.sourceNode !== node) return undefined;
  const time = timeOf(now);
  return {
    ...state,
    ...{ failed: true, completed: true },
    ...(time ? { endTimestamp: state.endTimestamp ?? time } : {}),
    failureReason: state.failureReason ?? "the source's launcher has ended",
  };
}

function failed({
  migrationUid = "",
  failureReason = "",
}: VirtualMachineInstanceMigrationState): PlannedEvent {
  return failedMigrationEvent(migrationUid, failureReason);
}

const nothing = { do: "nothing" } as const;
/** The awaited writes of others arrive through the watch; this covers those that are missed. */
const again = { requeueSeconds: 5 } as const;

function actFor(view: SourceView, handover: Handover, { step }: SourcePass): SourceAct {
  const { word, domain } = view;
  if (handover.state === "Released") return isOff(domain) ? { do: "leave" } : nothing;
  if (word === undefined) return nothing;
  if (handover.state === "Committed") return reopening(view, handover);
  return word === "unbegun" ? beginning(view, handover, step) : ending(view, handover, word);
}

/**
 * After the switch to post-copy, a connection that ended with this agent or with the target's is opened again: without it,
 * the guest's memory stays in two places.
 */
function reopening(
  { vmi, word, wayTo, config }: SourceView,
  { migrationUID }: Handover,
): SourceAct {
  const target = listenerOf(vmi.status?.migrationState, migrationUID);
  if (!isUnderWay(word) || !target || isSameListener(wayTo, target)) return nothing;
  return { do: "reopen", migrationUID, target, encryption: encryptionOf(vmi, config) };
}

/** For a migration that the launcher knows nothing about. */
function beginning(view: SourceView, handover: Handover, step: SourceStep): SourceAct {
  const { migrationUID, vmiUID, epoch, seq } = handover;
  const reason = whyUnwanted(view, handover) ?? whyImpossible(view);
  if (reason !== undefined) return { do: "take-back", migrationUID, reason, isDecided: false };
  if (step.step !== "migrate") return nothing;
  const migration = { migrationUID, vmiUID, epoch, seq };
  const encryption = encryptionOf(view.vmi, view.config);
  return { do: "begin", migration, order: step, encryption };
}

/** For a migration that the launcher has begun. */
function ending(view: SourceView, handover: Handover, word: MigrationReport): SourceAct {
  const { migrationUID } = handover;
  const { decision, settled, why } = word;
  // It was handed over again before the status could report the failure.
  if (settled !== undefined && (decision === "aborted" || decision === "returned")) {
    const reason = why ?? "it was aborted";
    return { do: "take-back", migrationUID, reason, isDecided: true };
  }
  const reason = whyUnwanted(view, handover);
  if (reason === undefined || decision !== undefined || settled !== undefined) return nothing;
  return { do: "cancel", migrationUID, reason };
}

/** Why a handover should not continue, if it can still be stopped. */
function whyUnwanted(
  { vmi: { metadata, status }, hopeless }: SourceView,
  { migrationUID }: Handover,
): string | undefined {
  const state = status?.migrationState;
  if (metadata?.deletionTimestamp) return "the VMI is being deleted";
  if (state?.migrationUid !== migrationUID) return "the VMI's status names another migration";
  if (state.abortRequested) return "an abort was requested";
  if (state.failed) return state.failureReason ?? "the migration is reported as failed";
  return hopeless;
}

/** Why a migration that has not begun never will. */
function whyImpossible({ vmi, domain }: SourceView): string | undefined {
  if (isFinal(vmi)) return "the VMI has ended";
  return isOff(domain) ? "the guest has ended" : undefined;
}

function isOff(domain: SourceView["domain"]): boolean {
  return ["Shutoff", "Crashed", "Absent"].includes(domain?.state ?? "");
}

function domainOf({ vmi, domain, word, now }: SourceView): MigratingDomain | undefined {
  if (!domain) return undefined;
  const known = word === undefined || word === "unbegun" ? undefined : word;
  return {
    vmiUid: vmi.metadata?.uid,
    state: domain.state,
    reason: domain.reason,
    ...(known ? { migration: sourceAttempt(known, vmi.status?.migrationState, now) } : {}),
  };
}
