import type { AppliedInstancetype } from "@virtkit/api/admission";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import type { SubresourceLookup } from "@virtkit/api/subresources/server";
import type { KubeClient, Resource } from "@virtkit/kube";
import { otherResources, type ServerResources, serverResources } from "../resources.ts";
import { AdmissionCluster } from "../webhooks/admission-cluster.ts";
import { existing, LiveReads } from "../webhooks/live-reads.ts";

/** The address of a node's agent. */
export type NodeAgentAddress = (
  node: string,
  options: { readonly signal: AbortSignal },
) => Promise<string | undefined>;

/** What {@link ClusterLookup} reads with. */
export interface ClusterLookupOptions {
  readonly client: KubeClient;
  readonly names: Names;
  readonly nodeAgentAddress: NodeAgentAddress;
  readonly signal: AbortSignal;
}

/** The cluster as requests see it: every read is live. */
export class ClusterLookup implements SubresourceLookup {
  readonly #options: ClusterLookupOptions;
  readonly #resources: ServerResources;

  constructor(options: ClusterLookupOptions) {
    this.#options = options;
    this.#resources = serverResources(options.names);
  }

  virtualMachine(namespace: string, name: string): Promise<VirtualMachine | undefined> {
    return this.#get(this.#resources.virtualmachines, name, namespace);
  }

  virtualMachineInstance(
    namespace: string,
    name: string,
  ): Promise<VirtualMachineInstance | undefined> {
    return this.#get(this.#resources.virtualmachineinstances, name, namespace);
  }

  nodeAgent(node: string): Promise<string | undefined> {
    const { nodeAgentAddress, signal } = this.#options;
    return nodeAgentAddress(node, { signal });
  }

  node(name: string): Promise<unknown> {
    return this.#get(otherResources.nodes, name);
  }

  persistentVolumeClaim(namespace: string, name: string): Promise<unknown> {
    return this.#get(otherResources.claims, name, namespace);
  }

  persistentVolumeClaims(
    namespace: string,
    { key, value }: { readonly key: string; readonly value: string },
  ): Promise<readonly unknown[]> {
    return this.#list(otherResources.claims, namespace, `${key}=${value}`);
  }

  launcherPods(namespace: string): Promise<readonly unknown[]> {
    const { labels } = this.#options.names;
    return this.#list(otherResources.pods, namespace, `${labels.app}=virt-launcher`);
  }

  cdiConfig(): Promise<unknown> {
    return this.#get(otherResources.cdiConfigs, "config");
  }

  async instancetypeOf(
    vm: VirtualMachine,
  ): Promise<AppliedInstancetype | { readonly missing: string }> {
    const { client, names, signal } = this.#options;
    const reads = new LiveReads();
    const cluster = new AdmissionCluster(reads, client, this.#resources, names, { signal });
    const found = await reads.settle(() => cluster.instancetypeOf(vm));
    for (const kind of ["instancetype", "preference"] as const) {
      const name = text(at(vm, "spec", kind, "name"));
      if (isSet(at(vm, "spec", kind)) && found[kind] === undefined) {
        return { missing: `spec.${kind}.name is ${JSON.stringify(name)}, which does not exist` };
      }
    }
    return found;
  }

  #get<T>(resource: Resource, name: string, namespace?: string): Promise<T | undefined> {
    const { client, signal } = this.#options;
    const place = { name, ...(namespace === undefined ? {} : { namespace }) };
    return existing(() => client.get(resource, place, { signal })) as Promise<T | undefined>;
  }

  async #list(
    resource: Resource,
    namespace: string,
    labelSelector: string,
  ): Promise<readonly unknown[]> {
    const { client, signal } = this.#options;
    const { items } = await client.list(resource, { namespace, labelSelector, limit: 500, signal });
    return items;
  }
}

/** Finds the agent's Pod on a node by KubeVirt's labels; `undefined` if none is ready. */
export function agentPodAddress(
  client: KubeClient,
  { namespace, names }: { readonly namespace: string; readonly names: Names },
): NodeAgentAddress {
  return async (node, { signal }) => {
    const { items } = await client.list(otherResources.pods, {
      namespace,
      labelSelector: `${names.labels.app}=virt-handler`,
      fieldSelector: `spec.nodeName=${node}`,
      signal,
    });
    const ready = items.find((pod) =>
      objects(at(pod, "status", "conditions")).some(
        (condition) => condition["type"] === "Ready" && condition["status"] === "True",
      ),
    );
    return text(at(ready, "status", "podIP")) || undefined;
  };
}
