import {
  type Admission,
  type AdmissionKind,
  admit,
  admitInstancetypeObject,
  admitMigrationPolicy,
  admitPool,
  admitReplicaSet,
  emptyCluster,
  type InstancetypeResource,
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
  const sent = strict ? object : pruned(object, config.names.group);
  const own = ownWebhook(kind, sent, config);
  return own ? causeFaults(own.causes) : webhooks(kind as AdmissionKind, sent, config);
}

/** Kinds with a webhook of their own, which no webhook changes before. */
function ownWebhook(
  kind: string | undefined,
  object: unknown,
  config: ClusterConfig,
): Admission | undefined {
  if (kind === "MigrationPolicy") return admitMigrationPolicy({ object }, config);
  if (kind === "VirtualMachineInstanceReplicaSet") return admitReplicaSet({ object }, config);
  if (kind === "VirtualMachinePool") return admitPool({ object, operation: "CREATE" }, config);
  const resource = instancetypeResources.get(String(kind));
  return resource && admitInstancetypeObject(resource, { object });
}

const instancetypeResources: ReadonlyMap<string, InstancetypeResource> = new Map([
  ["VirtualMachineInstancetype", "virtualmachineinstancetypes"],
  ["VirtualMachineClusterInstancetype", "virtualmachineclusterinstancetypes"],
  ["VirtualMachinePreference", "virtualmachinepreferences"],
  ["VirtualMachineClusterPreference", "virtualmachineclusterpreferences"],
]);

function webhooks(kind: AdmissionKind, object: unknown, config: ClusterConfig): readonly Fault[] {
  const mutation = mutate({ kind, operation: "CREATE", object }, config);
  if (!mutation.allowed) return refusalFaults(object, mutation, config.names.group);
  const request = { kind, operation: "CREATE", object: mutation.object } as const;
  return causeFaults(admit(request, config, emptyCluster, { everyRule: true }).causes);
}
