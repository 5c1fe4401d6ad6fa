import type { VirtualMachineInstanceMigrationStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { migrationPriority } from "@virtkit/migration/policy";
import { apiError } from "../plan/api-error.ts";
import { versionTest } from "../plan/field-patch.ts";
import { mapPatch } from "../plan/map-patch.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { observedVersion } from "../plan/observed-version.ts";
import type { Plan, PlanError } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import type { VmiPlanConfig } from "../vmi/vmi-plan-config.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { judgeMigration } from "./judge-migration.ts";
import { MigrationPass, type MigrationPlanConfig, type Requeue } from "./migration-pass.ts";
import { isFinalMigration, phaseOf } from "./migration-phase.ts";
import { notePhase, releaseOf, writeStatus } from "./migration-status.ts";
import type { MigrationView } from "./migration-view.ts";
import { syncMigration } from "./sync-migration.ts";

/** What was decided about a migration. */
export interface MigrationPlan extends Plan {
  /** As it should be; absent if the migration or its VMI does not exist. */
  readonly status?: VirtualMachineInstanceMigrationStatus;
  /** When to look again, in the order of the decisions, with the place in the queue. */
  readonly requeues?: readonly Requeue[];
  /** Nothing is planned: the decision needs a view that was read live. */
  readonly needsLiveRead?: true;
}

/**
 * Decides what to do about a migration: its target Pod, the handoff to the node agents of both
 * sides, its phase.
 *
 * @param now milliseconds since the epoch.
 * @param outcomes of the first writes, if the plan is made again after a refusal; see `carryOut`
 */
export function planMigration(
  view: MigrationView,
  config: MigrationPlanConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): MigrationPlan {
  const draft = new PlanDraft(outcomes);
  const { migration, vmi } = view;
  if (!migration) return draft.finish();
  if (!hasSeenVersion(view, config)) return draft.finish(stampVersion(view, config, draft));
  if (!vmi) return draft.finish(deleteOrphan(view, config, draft));
  const pass = new MigrationPass(view, migration, vmi, { config, now, draft });
  const error = decide(pass);
  if (pass.grant?.needsLiveRead) return { writes: [], events: [], needsLiveRead: true };
  const { status, requeues } = pass;
  return { ...draft.finish(error), status, ...(requeues.length > 0 ? { requeues } : {}) };
}

function decide(pass: MigrationPass): PlanError | undefined {
  const wasFinal = isFinalMigration(pass.migration);
  const error = advanceRounds(pass) ?? writeStatus(pass);
  if (error || !wasFinal) return error ?? pass.failure;
  const kept = collectGarbage(pass);
  if (kept) return kept;
  wakePending(pass);
  return undefined;
}

/**
 * Every phase has its work and its end. If the next phase is reached immediately, it runs in the
 * same pass.
 */
function advanceRounds(pass: MigrationPass): PlanError | undefined {
  for (;;) {
    const { phase } = pass.status;
    pass.failure = pass.view.isBehind ? undefined : syncMigration(pass);
    // KubeVirt writes what it records while it works only together with something else.
    if (pass.isStepwise) pass.before = pass.status;
    const error = judgeMigration(pass);
    if (error) return error;
    notePhase(pass);
    if (pass.isStepwise || pass.status.phase === phase) return undefined;
    pass.migration = { ...pass.migration, status: pass.status };
  }
}

/** A place is free: the migrations at the front of the queue check whether it is theirs. */
function wakePending(pass: MigrationPass): void {
  const waiting = pass.view.migrations
    .filter((each) => phaseOf(each) === "Pending")
    .sort((a, b) => migrationPriority(b) - migrationPriority(a));
  const places = Number(pass.config.cluster.migrations.parallelMigrationsPerCluster);
  for (const each of waiting.slice(0, places)) {
    const { namespace = "", name } = nameOf(each);
    pass.requeue({
      afterSeconds: 0,
      priority: migrationPriority(each),
      key: `${namespace}/${name}`,
    });
  }
}

function hasSeenVersion({ migration }: MigrationView, { cluster }: VmiPlanConfig): boolean {
  return observedVersion(migration, cluster.names).length === 0;
}

/** Written in this version of the API, so that the API server stores it in this version. */
function stampVersion(
  { migration }: MigrationView,
  { cluster: { names } }: VmiPlanConfig,
  draft: PlanDraft,
): PlanError | undefined {
  const { labels } = migration?.metadata ?? {};
  const selector = names.labels.vmiName;
  const marked = { [selector]: text(migration?.spec?.vmiName), ...labels };
  const refusal = draft.write({
    kind: "patch",
    resource: vmResources(names).migrations,
    object: nameOf(migration),
    operations: [
      ...versionTest(migration),
      ...observedVersion(migration, names),
      ...mapPatch(["metadata", "labels"], labels, marked),
    ],
  });
  return refusal && apiError(refusal);
}

/** A migration outlives its VMI only until the next pass. */
function deleteOrphan(
  { migration }: MigrationView,
  { cluster: { names }, phases }: MigrationPlanConfig,
  draft: PlanDraft,
): PlanError | undefined {
  const resource = vmResources(names).migrations;
  const object = nameOf(migration);
  if (!migration?.metadata?.deletionTimestamp) {
    const refusal = draft.write({ kind: "delete", resource, object, uid: uidOf(migration) });
    return refusal && apiError(refusal);
  }
  // KubeVirt leaves it as it is; if it had not ended before its VMI was gone, it stays forever.
  if (phases === "each") return undefined;
  const operations = releaseOf(migration, names);
  const refusal = operations && draft.write({ kind: "patch", resource, object, operations });
  return refusal && apiError(refusal);
}
