import { type Clock, realClock, until } from "@virtkit/api/clock";
import { at, text } from "@virtkit/api/shape";
import {
  defineResource,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@virtkit/kube";
import { decided, type Installation } from "../manifests/installation.ts";
import { manifests } from "../manifests/manifests.ts";
import { OperatorError } from "../operator-error.ts";
import { createdObjects, othersIn } from "./namespace-content.ts";
import { refuseKubeVirt } from "./refuse-kubevirt.ts";
import { refuseOtherNamespace } from "./refuse-other-namespace.ts";
import { resourceOf } from "./resource-of.ts";

const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** Options of {@link uninstall}. */
export interface UninstallOptions extends Omit<Installation, "image"> {
  readonly client: KubeClient;
  /** Deletes all VMs, and what creates them, first. Default false. */
  readonly force?: boolean;
  /** Milliseconds until the guests of deleted VMs must have ended, and then the components. Default 5 minutes. */
  readonly patience?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Removes an installation from a cluster. Refuses while there are VMs: their objects would be deleted with
 * their definitions, and nobody would be left to end their guests. With `force` it deletes them first, and
 * waits until their guests have ended. Accounts and definitions are removed only when the components have ended, because they
 * need them until then. The namespace stays if it has Pods or claims of others. After a failure it can be repeated.
 *
 * @throws OperatorError `OPERATOR_VMS_EXIST`, `OPERATOR_KUBEVIRT_EXISTS`, `OPERATOR_OTHER_NAMESPACE`, or
 *   `OPERATOR_NOT_ENDED` with the Pods that are left
 */
export async function* uninstall(options: UninstallOptions): AsyncGenerator<string> {
  const { client, force = false, patience = 300_000, clock = realClock, signal } = options;
  const { namespace, names } = decided({ ...options, image: "" });
  const { core, pool } = names.groups;
  const of = (group: string, version: string, plural: string, kind: string): Resource =>
    defineResource({ group, version, plural, kind });
  // Objects that create others are deleted before those that they create.
  const workloads = [
    of(pool, "v1beta1", "virtualmachinepools", "VirtualMachinePool"),
    of(core, "v1", "virtualmachines", "VirtualMachine"),
    of(core, "v1", "virtualmachineinstancereplicasets", "VirtualMachineInstanceReplicaSet"),
    of(core, "v1", "virtualmachineinstances", "VirtualMachineInstance"),
  ];
  const left = (): Promise<readonly string[]> => leftOf(client, workloads, signal);
  await refuseKubeVirt(client, names, { signal });
  await refuseOtherNamespace(client, { namespace, names }, { signal });
  const found = await left();
  if (found.length > 0 && !force) {
    const message = `the cluster has ${found.join(", ")}; delete them, or use --force to delete them with everything that they hold`;
    throw new OperatorError("OPERATOR_VMS_EXIST", message);
  }
  if (found.length > 0) {
    yield `deleting ${found.join(", ")}`;
    for (const resource of workloads) {
      await deleteAll(client, resource, signal).catch(ignoreMissing);
    }
    const isEmpty = async (): Promise<boolean> => (await left()).length === 0;
    if (!(await until(isEmpty, { clock, interval: 500, timeout: patience, signal }))) {
      const message = `after ${patience / 1000} s the cluster still has ${(await left()).join(", ")}; nothing else was removed; find out why they stay`;
      throw new OperatorError("OPERATOR_VMS_EXIST", message);
    }
  }
  const all = manifests({ ...options, image: "" });
  const programs = all.filter(({ kind }) => kind === "Deployment" || kind === "DaemonSet");
  const others = all.filter((object) => !programs.includes(object)).reverse();
  const remove = async (object: (typeof all)[number]): Promise<void> => {
    const { namespace: place, name = "" } = object.metadata;
    const at = place === undefined ? { name } : { namespace: place, name };
    await client.delete(resourceOf(object), at, { signal }).catch(ignoreMissing);
  };
  for (const object of programs) await remove(object);
  const components = programs.map(({ metadata }) => metadata.name).join(",");
  const labelSelector = `${names.labels.app} in (${components})`;
  const running = async (): Promise<readonly string[]> => {
    const { items } = await client.list(pods, { namespace, labelSelector, signal });
    return items.map((pod) => {
      const { name = "" } = pod.metadata;
      const node = text(at(pod, "spec", "nodeName"));
      return node ? `${name} on node ${node}` : name;
    });
  };
  const areGone = async (): Promise<boolean> => (await running()).length === 0;
  // Node agents make their nodes unschedulable when they end: they need their account until then.
  if (!(await until(areGone, { clock, interval: 250, timeout: patience, signal }))) {
    const message = `after ${patience / 1000} s these Pods of the components are still there: ${(await running()).join(", ")}; make sure that their nodes run, or delete the Pods of nodes that are off with kubectl delete pod --force; then repeat this`;
    throw new OperatorError("OPERATOR_NOT_ENDED", message);
  }
  yield "the components have ended";
  // Since the first look, somebody may have created one. From here on nobody can: the webhooks refuse what nobody reviews.
  const late = await left();
  if (late.length > 0) {
    const message = `meanwhile, the cluster got ${late.join(", ")}, so the definitions stay; install again, and then repeat this`;
    throw new OperatorError("OPERATOR_VMS_EXIST", message);
  }
  const strangers = await othersIn(client, { namespace, names }, { signal });
  const stays = ({ kind }: KubeObject): boolean => kind === "Namespace" && strangers.length > 0;
  for (const object of others.filter((each) => !stays(each))) await remove(object);
  for (const [resource, name] of createdObjects(names)) {
    await client.delete(resource, { namespace, name }, { signal }).catch(ignoreMissing);
  }
  if (strangers.length > 0) yield `namespace ${namespace} stays: it has ${strangers.join(", ")}`;
  yield `removed ${all.length - (strangers.length > 0 ? 1 : 0)} objects`;
}

async function leftOf(
  client: KubeClient,
  workloads: readonly Resource[],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const resource of workloads) {
    try {
      const { items, metadata } = await client.list(resource, { limit: 500, signal });
      const count = items.length + (metadata.remainingItemCount ?? 0);
      if (count > 0) found.push(`${count} ${resource.kind}${count === 1 ? "" : "s"}`);
    } catch (error) {
      ignoreMissing(error);
    }
  }
  return found;
}

async function deleteAll(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let next: string | undefined = ""; next !== undefined; ) {
    const page: Awaited<ReturnType<KubeClient["list"]>> = await client.list(resource, {
      ...{ limit: 500, continue: next || undefined, signal },
    });
    for (const { metadata } of page.items) {
      const { namespace = "", name = "", uid } = metadata;
      const preconditions = { uid };
      await client
        .delete(resource, { namespace, name }, { preconditions, signal })
        .catch(ignoreMissing);
    }
    next = page.metadata.continue || undefined;
  }
}

/** A missing object, or kind, need not be removed. */
function ignoreMissing(error: unknown): void {
  if (!isNotFound(error) && (error as { status?: unknown }).status !== 404) throw error;
}
