import { type AdmissionKind, mutate } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { isNotFound, type JsonPatchOperation, type KubeObject, type Resource } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import type { Admission, AdmissionAnswer } from "@virtkit/testing/api-server";
import type { TestCluster, TestClusterOptions } from "@virtkit/testing/cluster";
import type { ActorMain } from "@virtkit/testing/faults";
import { jsonPointer } from "../plan/json-pointer.ts";
import { podResource } from "../plan/resources.ts";
import { revisionResource, vmResources } from "../plan/vm-resources.ts";
import type { ControllerPartMaker } from "../service/controller-part.ts";
import { createControllers } from "../service/create-controllers.ts";
import type { InstalledProjects } from "../service/shared-caches.ts";

const names = namesOf();

/** The resources that tests of VMs look at. */
export const resources = {
  ...vmResources(names),
  pods: podResource,
  revisions: revisionResource,
} as const;

const config = {
  cluster: clusterConfig({ developerConfiguration: { useEmulation: true } }),
  profile: virtkitLauncherProfile({ image: "launcher:1" }),
};

const account = "system:serviceaccount:kubevirt:kubevirt-controller";
const admitted = new Set(["VirtualMachine", "VirtualMachineInstance"]);

/** What a node agent would report about its node. */
const nodeWithMachineType: AdmissionAnswer = {
  allowed: true,
  patch: [
    {
      op: "add",
      path: jsonPointer("metadata", "labels", `${names.nodeLabels.machineType}q35`),
      value: "true",
    },
  ],
};

/** The mutating webhook, without HTTPS. */
const webhook: Admission = {
  mutate: ({ operation, resource, object, previous, subresource }) => {
    if (resource.kind === "Node" && operation === "CREATE") return nodeWithMachineType;
    const kind = resource.kind as AdmissionKind;
    if (subresource || operation === "DELETE" || !admitted.has(kind)) return { allowed: true };
    const request = { kind, operation, object, oldObject: previous, username: account };
    const mutation = mutate(request, config.cluster, { marks: true });
    if (!mutation.allowed) return mutation;
    const patch = JSON.parse(JSON.stringify(mutation.patch)) as JsonPatchOperation[];
    // Like KubeVirt's, it replaces a status that may be missing, which API servers accept from a
    // webhook.
    const lenient = patch.map((each) =>
      each.op === "replace" ? { ...each, op: "add" as const } : each,
    );
    return { allowed: true, patch: lenient };
  },
};

/** A cluster with our definitions, our webhook, two nodes and guests. */
export function vmClusterOptions(options: TestClusterOptions = {}): TestClusterOptions {
  const objects = [...(crds() as unknown as KubeObject[]), ...(options.objects ?? [])];
  return { nodes: 2, guests: true, ...options, objects, admission: [webhook] };
}

/** Controllers as an actor of a scenario; by default all of them. */
export function controllerActor(
  parts?: readonly ControllerPartMaker[],
  installed?: InstalledProjects,
): ActorMain {
  return async ({ client, clock, random, wall, signal }) => {
    const run = { client, clock, random, wall, config: () => config, installed };
    await createControllers({ ...run, ...(parts && { parts }) }).run({ signal });
  };
}

/** A user of a cluster with VMs. */
export class VmUser {
  readonly #cluster: TestCluster;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  get client() {
    return this.#cluster.client("user");
  }

  async create(runStrategy: string, spec: Partial<VirtualMachine["spec"]> = {}): Promise<void> {
    await this.client.create(resources.vms, vmOf("vm", runStrategy, spec));
  }

  async vm(): Promise<VirtualMachine | undefined> {
    return (await this.find(resources.vms)) as VirtualMachine | undefined;
  }

  async vmi(): Promise<VirtualMachineInstance | undefined> {
    return (await this.find(resources.vmis)) as VirtualMachineInstance | undefined;
  }

  async find(resource: Resource, name = "vm"): Promise<KubeObject | undefined> {
    try {
      return await this.client.get(resource, { namespace: "default", name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async all(resource: Resource): Promise<readonly KubeObject[]> {
    return (await this.client.list(resource)).items;
  }

  async patch(body: object, resource: Resource = resources.vms, name = "vm"): Promise<void> {
    await this.client.patch(resource, { namespace: "default", name }, { type: "merge", body });
  }

  /** As virt-api does for `start`, `stop` and `restart`. */
  async request(...stateChangeRequests: readonly object[]): Promise<void> {
    const body = { status: { stateChangeRequests } };
    const name = { namespace: "default", name: "vm" };
    await this.client.patch(
      resources.vms,
      name,
      { type: "merge", body },
      { subresource: "status" },
    );
  }

  async remove(resource: Resource = resources.vms, name = "vm"): Promise<void> {
    await this.client.delete(resource, { namespace: "default", name });
  }

  /** Removes an object despite its finalizers. */
  async strip(resource: Resource, name = "vm"): Promise<void> {
    await this.patch({ metadata: { finalizers: null } }, resource, name);
    const options = { gracePeriodSeconds: 0 };
    try {
      await this.client.delete(resource, { namespace: "default", name }, options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** A small VM as a user writes it. */
export function vmOf(
  name: string,
  runStrategy: string,
  spec: Partial<VirtualMachine["spec"]> = {},
): KubeObject {
  const vm = {
    metadata: { namespace: "default", name },
    spec: {
      runStrategy,
      template: {
        spec: {
          architecture: "amd64",
          domain: { devices: { logSerialConsole: false }, memory: { guest: "64Mi" } },
        },
      },
      ...spec,
    },
  };
  return vm;
}

/**
 * A VM whose only disk is made from a template: a DataVolume with this source, of this name. CPU and memory may come from an
 * instance type.
 */
export function vmWithDisk(
  name: string,
  source: object,
  instancetype?: string,
): Partial<VirtualMachine["spec"]> {
  const storage = { resources: { requests: { storage: "1Gi" } } };
  const devices = { logSerialConsole: false, disks: [{ name, disk: { bus: "virtio" } }] };
  const memory = instancetype === undefined ? { memory: { guest: "64Mi" } } : {};
  const spec = {
    ...(instancetype === undefined ? {} : { instancetype: { name: instancetype } }),
    dataVolumeTemplates: [{ metadata: { name }, spec: { storage, ...source } }],
    template: {
      spec: {
        architecture: "amd64",
        domain: { devices, ...memory },
        volumes: [{ name, dataVolume: { name } }],
      },
    },
  };
  return spec as unknown as Partial<VirtualMachine["spec"]>;
}
