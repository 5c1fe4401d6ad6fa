import type {
  AdmissionLookup,
  AppliedInstancetype,
  EvictedPod,
  EvictionLookup,
} from "@virtkit/api/admission";
import {
  type Labelled,
  type MatcherLookup,
  matcherScope,
  type StoredPreference,
} from "@virtkit/api/instancetype";
import type { Names } from "@virtkit/api/names";
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachinePreferenceSpec,
} from "@virtkit/api/schema";
import { at, entry, isSet, object, text } from "@virtkit/api/shape";
import type { KubeClient, Resource } from "@virtkit/kube";
import { otherResources, type ServerResources } from "../resources.ts";
import type { LiveReads } from "./live-reads.ts";

/** The cluster as admission rules see it: live, by {@link LiveReads}. */
export class AdmissionCluster implements AdmissionLookup, EvictionLookup, MatcherLookup {
  readonly #reads: LiveReads;
  readonly #client: KubeClient;
  readonly #resources: ServerResources;
  readonly #names: Names;
  readonly #context: { readonly signal?: AbortSignal | undefined };

  constructor(
    reads: LiveReads,
    client: KubeClient,
    resources: ServerResources,
    names: Names,
    // Asked for its signal at each read: a review that reads nothing needs none.
    context: { readonly signal?: AbortSignal | undefined } = {},
  ) {
    this.#reads = reads;
    this.#client = client;
    this.#resources = resources;
    this.#names = names;
    this.#context = context;
  }

  virtualMachineInstance(namespace: string, name: string): VirtualMachineInstance | undefined {
    return this.#get<VirtualMachineInstance>(
      this.#resources.virtualmachineinstances,
      name,
      namespace,
    );
  }

  migrationsOf(namespace: string, vmiName: string): readonly VirtualMachineInstanceMigration[] {
    const resource = this.#resources.virtualmachineinstancemigrations;
    const labelSelector = `${this.#names.labels.vmiName}=${vmiName}`;
    const list = this.#reads.ask(`${resource.plural} ${namespace} ${labelSelector}`, async () => {
      const { items } = await this.#client.list(resource, {
        namespace,
        labelSelector,
        signal: this.#context.signal,
      });
      return items;
    });
    return (list ?? []) as unknown as readonly VirtualMachineInstanceMigration[];
  }

  pod(namespace: string, name: string): EvictedPod | undefined {
    return this.#get<EvictedPod>(otherResources.pods, name, namespace);
  }

  instancetypeOf(vm: VirtualMachine): AppliedInstancetype {
    return {
      instancetype: this.#specOf(vm, "instancetype"),
      preference: this.#specOf(vm, "preference"),
    };
  }

  claim(namespace: string, name: string): Labelled | undefined {
    return this.#get<Labelled>(otherResources.claims, name, namespace);
  }

  dataVolume(namespace: string, name: string): Labelled | undefined {
    return this.#get<Labelled>(otherResources.dataVolumes, name, namespace);
  }

  dataSource(namespace: string, name: string): Labelled | undefined {
    return this.#get<Labelled>(otherResources.dataSources, name, namespace);
  }

  snapshot(namespace: string, name: string): Labelled | undefined {
    return this.#get<Labelled>(otherResources.volumeSnapshots, name, namespace);
  }

  preference(namespace: string, name: string): VirtualMachinePreferenceSpec | undefined {
    return specIn(this.#get(this.#resources.preferences, name, namespace));
  }

  clusterPreference(name: string): VirtualMachinePreferenceSpec | undefined {
    return specIn(this.#get(this.#resources.clusterPreferences, name));
  }

  preferenceRevision(namespace: string, name: string): StoredPreference | undefined {
    const revision = this.#get(otherResources.revisions, name, namespace);
    const spec = specIn<VirtualMachinePreferenceSpec>(at(revision, "data"));
    const labels = at(revision, "metadata", "labels");
    return spec && { spec, objectName: entry(labels, this.#names.labels.revisionObjectName) };
  }

  /** What a VM's matcher names: the revision if it names one, otherwise the current object. */
  #specOf<T>(vm: VirtualMachine, matcher: "instancetype" | "preference"): T | undefined {
    const found = at(vm, "spec", matcher);
    if (!isSet(found)) return undefined;
    const namespace = text(at(vm, "metadata", "namespace"));
    const revision =
      text(at(found, "revisionName")) ||
      text(at(vm, "status", `${matcher}Ref`, "controllerRevisionRef", "name"));
    if (revision) {
      return specIn(at(this.#get(otherResources.revisions, revision, namespace), "data"));
    }
    const isCluster = matcherScope(matcher, text(at(found, "kind"))) === "cluster";
    const { instancetypes, clusterInstancetypes, preferences, clusterPreferences } =
      this.#resources;
    const [cluster, own] =
      matcher === "instancetype"
        ? [clusterInstancetypes, instancetypes]
        : [clusterPreferences, preferences];
    const name = text(at(found, "name"));
    return specIn(isCluster ? this.#get(cluster, name) : this.#get(own, name, namespace));
  }

  #get<T>(resource: Resource, name: string, namespace?: string): T | undefined {
    if (!name) return undefined;
    const key = `${resource.group}/${resource.plural} ${namespace ?? ""}/${name}`;
    return this.#reads.ask(key, () =>
      this.#client.get(
        resource,
        { name, ...(namespace === undefined ? {} : { namespace }) },
        { signal: this.#context.signal },
      ),
    ) as T | undefined;
  }
}

function specIn<T>(found: unknown): T | undefined {
  return isSet(found) ? (object(at(found, "spec")) as unknown as T) : undefined;
}
