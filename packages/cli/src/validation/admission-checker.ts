import {
  type AdmissionKind,
  admit,
  admitMigrationPolicy,
  emptyCluster,
  mutate,
} from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import type { CheckerContext, Fault } from "./checker.ts";
import { causeFaults, pruned, refusalFaults } from "./webhook-faults.ts";

/**
 * What the webhooks of the cluster would refuse when the object is created: it is defaulted first, then judged.
 * What depends on other objects of the cluster is unknown here and not judged.
 */
export function check(object: unknown, { strict, config }: CheckerContext): readonly Fault[] {
  const { kind } = Object(object) as { kind?: string };
  if (kind === "MigrationPolicy") {
    return causeFaults(admitMigrationPolicy({ object }, config).causes);
  }
  const sent = strict ? object : pruned(object, config.names.group);
  return webhooks(kind as AdmissionKind, sent, config);
}

function webhooks(kind: AdmissionKind, object: unknown, config: ClusterConfig): readonly Fault[] {
  const mutation = mutate({ kind, operation: "CREATE", object }, config);
  if (!mutation.allowed) return refusalFaults(object, mutation, config.names.group);
  const request = { kind, operation: "CREATE", object: mutation.object } as const;
  return causeFaults(admit(request, config, emptyCluster, { everyRule: true }).causes);
}
