import type { ClusterConfig } from "../config/index.ts";
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationSchema,
  VirtualMachineInstanceMigrationSpecSchema,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Admission, allow, judge, refuse, refuseShape } from "./admission.ts";
import type { AdmissionLookup } from "./admission-lookup.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import { type Cause, fine, forbidden, invalid, notSupported, quote, required } from "./cause.ts";
import { decode, decodeStored } from "./decode.ts";
import { labelValueProblems } from "./kubernetes-name.ts";
import { semanticallyEqual } from "./semantic-equality.ts";
import type { ServiceAccounts } from "./service-accounts.ts";

/** What judging a migration needs in addition to the request. */
export interface MigrationContext {
  readonly config: ClusterConfig;
  readonly lookup: AdmissionLookup;
  readonly accounts: ServiceAccounts;
}

/** Judges a new migration: the VMI exists and can move, and no other migration moves it. */
export function admitNewMigration(request: AdmissionRequest, context: MigrationContext): Admission {
  const decoded = decode(VirtualMachineInstanceMigrationSchema, request.object, {
    readsFirst: true,
  });
  if (!decoded.ok) return refuseShape(decoded);
  const migration = decoded.object;
  const { vmiName = "", priority } = migration.spec;
  if (!vmiName) return judge(required("spec.vmiName", "is missing; name the VMI to move"));
  if (isSet(priority) && !context.accounts.isController(request.username)) {
    return judge(
      forbidden("spec.migrationPriority", "is set by the controller; remove it", "spec.priority"),
    );
  }
  const namespace = migration.metadata?.namespace || (request.namespace ?? "");
  const obstacle = obstacleTo(migration, namespace, context);
  return obstacle ? refuse(400, obstacle) : judge(betweenClusters(migration, context.config));
}

/** Judges a change of a migration: what it moves, and where to, must stay. */
export function admitMigrationUpdate(
  request: AdmissionRequest,
  { names }: ClusterConfig,
): Admission {
  const selectorLabel = names.labels.vmiName;
  const decoded = decode(VirtualMachineInstanceMigrationSchema, request.object, {
    readsFirst: true,
  });
  const old = decodeStored(VirtualMachineInstanceMigrationSchema, request.oldObject);
  if (!old.ok) return refuseShape(old);
  if (!decoded.ok) return refuseShape(decoded);
  const { spec, metadata } = decoded.object;
  if (!semanticallyEqual(VirtualMachineInstanceMigrationSpecSchema, spec, old.object.spec)) {
    return judge(
      notSupported(
        undefined,
        "spec of a migration cannot be changed; delete it and create another",
      ),
    );
  }
  const before = old.object.metadata?.labels?.[selectorLabel];
  const after = metadata?.labels?.[selectorLabel];
  if (before === undefined || before === after || hasEnded(decoded.object)) return allow();
  return judge(
    notSupported(
      undefined,
      `metadata.labels must keep ${selectorLabel}: ${before} until the migration has ended`,
    ),
  );
}

/** Why the VMI cannot move now, as a sentence; `undefined` if it can. */
function obstacleTo(
  migration: VirtualMachineInstanceMigration,
  namespace: string,
  { lookup, config }: MigrationContext,
): string | undefined {
  const { vmiName = "" } = migration.spec;
  const vmi = lookup.virtualMachineInstance(namespace, vmiName);
  if (!vmi) return `VirtualMachineInstance ${quote(`${namespace}/${vmiName}`)} does not exist`;
  const phase = vmi.status?.phase;
  if (phase === "Succeeded" || phase === "Failed") {
    return `the VirtualMachineInstance ${quote(vmiName)} has ended (${phase}); start it again first`;
  }
  const reason = notMigratable(vmi, migration);
  if (reason) return reason;
  // The name must fit into the label that finds the migrations of a VMI.
  if (labelValueProblems(vmiName).length > 0) {
    return `spec.vmiName ${quote(vmiName)} does not fit into the label ${config.names.labels.vmiName}`;
  }
  const running = lookup.migrationsOf(namespace, vmiName).find((other) => !hasEnded(other));
  if (!running) return undefined;
  return `migration ${quote(running.metadata?.name ?? "")} of ${quote(vmiName)} has not ended; wait for it or delete it`;
}

function notMigratable(
  vmi: VirtualMachineInstance,
  { spec }: VirtualMachineInstanceMigration,
): string | undefined {
  // Between clusters the disks are copied anyway.
  const copiesDisks = isSet(spec.sendTo) !== isSet(spec.receive);
  const obstacle = vmi.status?.conditions?.find(
    ({ type, status, reason }) =>
      type === "LiveMigratable" &&
      status === "False" &&
      !(copiesDisks && reason === "DisksNotLiveMigratable"),
  );
  if (!obstacle) return undefined;
  const { reason = "no reason given", message = "" } = obstacle;
  return `the VirtualMachineInstance cannot be migrated live: ${reason}${message ? `, ${message}` : ""}`;
}

function betweenClusters(
  { spec }: VirtualMachineInstanceMigration,
  config: ClusterConfig,
): readonly Cause[] {
  const { sendTo, receive } = spec;
  if (!sendTo && !receive) return fine;
  if (!config.gate("DecentralizedLiveMigration")) {
    return notSupported(
      undefined,
      "spec.sendTo and spec.receive need the feature gate DecentralizedLiveMigration; turn it on",
    );
  }
  if (!sendTo || !receive || sendTo.migrationID === receive.migrationID) return fine;
  return invalid(
    undefined,
    `spec.sendTo.migrationID is ${quote(sendTo.migrationID)}, but spec.receive.migrationID is ${quote(receive.migrationID)}; they must be equal`,
  );
}

function hasEnded({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
