import type { ClusterConfig } from "@virtkit/api/config";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import { withHostDisks } from "@virtkit/converter";
import { isAbortHandled, type MigratingDomain } from "../../migrating-domain.ts";
import { isOver } from "../../migration-phase.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { wrapXmlError } from "../../read-migrating-domain.ts";
import type { MigrationOptions } from "../migration-options.ts";
import { isSource } from "./is-source.ts";
import { migrationOptionsFor } from "./migration-options-for.ts";

/** What the source's node agent does next about a migration. */
export type SourceStep =
  | { readonly step: "none"; readonly why: string }
  /** The target has not published yet where it listens. */
  | { readonly step: "wait"; readonly seconds: number }
  | { readonly step: "cancel"; readonly events: readonly PlannedEvent[] }
  | {
      readonly step: "migrate";
      readonly options: MigrationOptions;
      /** Where the target listens, and which of its QEMU's ports is behind which port of the node. */
      readonly target: {
        readonly address: string;
        readonly ports: Readonly<Record<string, number>>;
      };
      /** The VMI as the launcher gets it, with image files for its claims. */
      readonly vmi: VirtualMachineInstance;
      /** Whether passt must be asked to release its connections. */
      readonly passtRepair: boolean;
      readonly events: readonly PlannedEvent[];
    };

/** What the step depends on besides the VMI. */
export interface SourceFacts {
  readonly node: string;
  /** `undefined` if there is none. */
  readonly domain: MigratingDomain | undefined;
  readonly config: ClusterConfig;
}

/**
 * What the node agent of the source does next about the migration in a VMI's status. A migration that runs is
 * not started again, and one that is being aborted is not aborted again.
 *
 * @throws MigrationError if the VMI or its options are not shaped as they must be.
 */
export function planSourceStep(vmi: VirtualMachineInstance, facts: SourceFacts): SourceStep {
  return guardVmi(vmi, () => {
    const { domain, config } = facts;
    const state = vmi.status?.migrationState;
    const obstacle = obstacleTo(vmi, facts);
    if (obstacle !== undefined || !state || !domain) return none(obstacle ?? "");
    if (state.abortRequested) return planAbort(state, domain);
    if (isUnderWay(state, domain)) return none("it is under way");
    return planStart(vmi, state, config);
  });
}

/** Why nothing is done. */
function obstacleTo(vmi: VirtualMachineInstance, facts: SourceFacts): string | undefined {
  const { node, domain } = facts;
  const state = vmi.status?.migrationState;
  if (!state) return "the VMI has no migration";
  if (isOver(state)) return "it is over";
  if (!isSource(vmi, node)) return "the VMI's migration starts on another node";
  if (!state.targetNode) return "it has no target node";
  return !domain || notAlive.has(domain.state) ? "the guest does not run here" : undefined;
}

function planAbort(
  state: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain,
): SourceStep {
  const isHandled = [state.abortStatus, domain.migration?.abortStatus].some(isAbortHandled);
  if (isHandled) return none("it is being aborted");
  return { step: "cancel", events: [migrating("the migration is being aborted")] };
}

function planStart(
  vmi: VirtualMachineInstance,
  state: VirtualMachineInstanceMigrationState,
  config: ClusterConfig,
): SourceStep {
  const ports = state.targetDirectMigrationNodePorts;
  if (!ports) return { step: "wait", seconds: 1 };
  return {
    step: "migrate",
    options: migrationOptionsFor(vmi, config),
    target: { address: state.targetNodeAddress ?? "", ports },
    vmi: wrapXmlError("vmi", () => withHostDisks(vmi, config.names)),
    passtRepair: config.gate("PasstBinding"),
    events: [migrating("the guest is being migrated")],
  };
}

const notAlive: ReadonlySet<string> = new Set(["Shutoff", "Crashed", ""]);

const none = (why: string): SourceStep => ({ step: "none", why });

const migrating = (message: string): PlannedEvent => ({
  type: "Normal",
  reason: "Migrating",
  message,
});

/** By the VMI's status, the launcher's report or the domain itself, whichever comes first. */
function isUnderWay(
  { startTimestamp, endTimestamp }: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain,
): boolean {
  if (startTimestamp && !endTimestamp) return true;
  const { migration, state, reason = "" } = domain;
  if (migration?.startTimestamp && !migration.endTimestamp) return true;
  return state === "Paused" && ["Migration", "StartingUp", "Postcopy"].includes(reason);
}
