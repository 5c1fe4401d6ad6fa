import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject, RequestOptions, Resource } from "@virtkit/kube";
import { isResponsive } from "../node/heartbeat.ts";
import { nodeReconciler } from "../node/node-reconciler.ts";
import type { NodeView } from "../node/node-view.ts";
import { known, knownObject } from "../plan/object-source.ts";
import { podResource, vmiResource } from "../plan/resources.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import { requiredFrequencies } from "./required-frequencies.ts";
import { daemonSetResource } from "./shared-resources.ts";
import { sharedWatch } from "./shared-watch.ts";

/** Nodes whose agent has no heartbeat, and their VMIs. */
export const nodePart: ControllerPartMaker = { name: "node", make };

function make(context: PartContext): ControllerPart {
  const { caches, names } = context;
  const config = { names };
  const wall = () => context.wall();
  const frequencies = requiredFrequencies(context);
  const view = async (name: string, options: RequestOptions): Promise<NodeView> => {
    const found = await nodeView(context, name, options);
    return { ...found, requiredFrequencies: frequencies(found.node) };
  };
  return {
    concurrency: 2,
    watches: [
      sharedWatch(caches.nodes),
      // A node that is gone is only known by the VMIs that name it.
      sharedWatch(caches.vmis, {
        keys: ({ status }) => (status?.nodeName ? [{ name: status.nodeName }] : []),
        predicate: ({ old, object }) => old?.status?.nodeName !== object?.status?.nodeName,
      }),
      sharedWatch(caches.pods, { predicate: () => false }),
    ],
    reconcile: async (node, request) => {
      const { behindFor, ...runner } = context.runner(node);
      if (behindFor > 0) return { requeueAfter: behindFor };
      return await nodeReconciler({ ...runner, view, config, wall })(node, request);
    },
  };
}

/** Reads what is around a node live, but only if there is something to decide about it. */
async function nodeView(
  { caches, client, names, wall }: PartContext,
  name: string,
  request: RequestOptions,
): Promise<NodeView> {
  const node = knownObject(caches.nodes.get({ name }));
  const hasWork =
    known(caches.vmis.byIndex("node", name)).length > 0 ||
    known(caches.pods.byIndex("node", name)).length > 0;
  const nothing = { name, node, vmis: [], pods: [], daemonSets: [] };
  if (!hasWork || isResponsive(node, { names }, wall().getTime()) !== false) return nothing;
  const list = (resource: Resource, selector: object) =>
    listAll(client, resource, selector, request.signal);
  const onNode = `${names.labels.nodeName}=${name}`;
  return {
    name,
    node,
    vmis: (await list(vmiResource(names), {
      labelSelector: onNode,
    })) as readonly VirtualMachineInstance[],
    pods: await list(podResource, { fieldSelector: `spec.nodeName=${name}` }),
    daemonSets: await list(daemonSetResource, {
      labelSelector: `${names.labels.app}=virt-handler`,
    }),
  };
}

async function listAll(
  client: PartContext["client"],
  resource: Resource,
  selector: object,
  signal: AbortSignal | undefined,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(resource, { ...selector, limit: 500, continue: next, signal });
    found.push(...page.items);
    next = page.metadata.continue || undefined;
  } while (next);
  return found;
}
