import { matchesSelector } from "../../../match-labels.ts";
import { cdiGroup, type Names, names } from "../../../names/index.ts";
import type { LabelSelector } from "../../../schema/index.ts";
import { at, entry, isSet, type JsonObject, objects, text } from "../../../shape.ts";
import { badRequest, notFound } from "../outcome.ts";
import { nameOf } from "../state-change.ts";
import { readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** An object that a VM or a VMI depends on, with its own dependencies. */
export interface ObjectGraphNode {
  readonly objectReference: {
    readonly apiGroup: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace: string;
  };
  readonly labels: Readonly<Record<string, string>>;
  readonly optional?: true;
  readonly children?: readonly ObjectGraphNode[];
}

type Dependency = "storage" | "network" | "compute" | "config";

interface Kind {
  readonly kind: string;
  readonly group: (names: Names) => string;
  readonly dependency: Dependency;
}

const core = (): string => "";
const kinds = {
  vm: { kind: "VirtualMachine", group: ({ groups }) => groups.core, dependency: "compute" },
  vmi: {
    kind: "VirtualMachineInstance",
    group: ({ groups }) => groups.core,
    dependency: "compute",
  },
  pod: { kind: "Pod", group: core, dependency: "compute" },
  revision: { kind: "ControllerRevision", group: () => "apps", dependency: "config" },
  configMap: { kind: "ConfigMap", group: core, dependency: "config" },
  secret: { kind: "Secret", group: core, dependency: "config" },
  serviceAccount: { kind: "ServiceAccount", group: core, dependency: "config" },
  claim: { kind: "PersistentVolumeClaim", group: core, dependency: "storage" },
  dataVolume: { kind: "DataVolume", group: () => cdiGroup, dependency: "storage" },
  network: {
    kind: "NetworkAttachmentDefinition",
    group: () => "k8s.cni.cncf.io",
    dependency: "network",
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** The label of the claims with the state of a guest's TPM and firmware. */
const stateClaimLabel = "persistent-state-for";

/** `objectgraph`: what a VM or a VMI depends on, for backups and for people. */
export async function planObjectGraph(
  request: SubresourceRequest,
  context: SubresourceContext,
): Promise<SubresourcePlan> {
  const { route, namespace, name, body } = request;
  if (!context.config.gate("ObjectGraph")) return badRequest("enable the feature gate ObjectGraph");
  const isVm = route.resource === "virtualmachines";
  const found = isVm
    ? await context.lookup.virtualMachine(namespace, name)
    : await context.lookup.virtualMachineInstance(namespace, name);
  if (!found) return notFound(isVm ? "virtualmachine" : "virtualmachineinstance", name);
  const fields = { includeOptionalNodes: "boolean", labelSelector: "object" } as const;
  const read = readOptions(body, fields, context.parse);
  if ("kind" in read) return read;
  const graph = new Graph(namespace, context);
  const children = isVm ? await graph.ofVm(found) : await graph.ofVmi(found);
  const root = graph.node(isVm ? kinds.vm : kinds.vmi, nameOf(found));
  const kept = filtered(children, read.options);
  return { kind: "answer", code: 200, body: kept.length > 0 ? { ...root, children: kept } : root };
}

class Graph {
  readonly #namespace: string;
  readonly #context: SubresourceContext;
  readonly #names: Names;

  constructor(namespace: string, context: SubresourceContext) {
    this.#namespace = namespace;
    this.#context = context;
    this.#names = context.config.names ?? names();
  }

  node(
    { kind, group, dependency }: Kind,
    name: string,
    more: { namespace?: string; optional?: true; children?: readonly ObjectGraphNode[] } = {},
  ): ObjectGraphNode {
    const { namespace = this.#namespace, optional, children } = more;
    return {
      objectReference: { apiGroup: group(this.#names), kind, name, namespace },
      labels: { [`${this.#names.group}/dependency-type`]: dependency },
      ...(optional ? { optional } : {}),
      ...(children && children.length > 0 ? { children } : {}),
    };
  }

  async ofVm(vm: unknown): Promise<readonly ObjectGraphNode[]> {
    const spec = at(vm, "spec", "template", "spec");
    const name = nameOf(vm);
    const isCreated = at(vm, "status", "created") === true;
    const children = isCreated ? await this.#launcher(name) : [];
    return [
      ...(isCreated ? [this.node(kinds.vmi, name, { children })] : []),
      ...this.#matcher(vm, "instancetype"),
      ...this.#matcher(vm, "preference"),
      ...this.#credentials(spec),
      ...this.#volumes(spec),
      ...(keepsState(spec) ? await this.#stateClaimOf(name) : []),
      ...this.#networks(spec),
    ];
  }

  async ofVmi(vmi: unknown): Promise<readonly ObjectGraphNode[]> {
    const spec = at(vmi, "spec");
    const state = objects(at(vmi, "status", "volumeStatus"))
      .filter((status) => text(status["name"]).startsWith(stateClaimLabel))
      .map((status) => text(at(status, "persistentVolumeClaimInfo", "claimName")))
      .filter((claim) => claim !== "" && keepsState(spec))
      .slice(0, 1);
    return [
      ...(await this.#launcher(nameOf(vmi))),
      ...this.#credentials(spec),
      ...this.#volumes(spec),
      ...state.map((claim) => this.node(kinds.claim, claim)),
      ...this.#networks(spec),
    ];
  }

  async #launcher(vmiName: string): Promise<readonly ObjectGraphNode[]> {
    const pods = await this.#context.lookup.launcherPods(this.#namespace);
    const pod = pods.find(
      (candidate) =>
        objects(at(candidate, "metadata", "ownerReferences")).some(
          (owner) => owner["kind"] === kinds.vmi.kind && owner["name"] === vmiName,
        ) ||
        entry(at(candidate, "metadata", "annotations"), this.#names.annotations.domain) === vmiName,
    );
    return pod ? [this.node(kinds.pod, nameOf(pod))] : [];
  }

  #matcher(vm: unknown, matcher: "instancetype" | "preference"): readonly ObjectGraphNode[] {
    const found = at(vm, "spec", matcher);
    if (!isSet(found)) return [];
    const title = matcher === "instancetype" ? "Instancetype" : "Preference";
    const wanted = text(at(found, "kind")).toLowerCase();
    const kind = [`VirtualMachineCluster${title}`, `VirtualMachine${title}`].find(
      (known) => known.toLowerCase() === wanted,
    );
    const group = ({ groups }: Names): string => groups.instancetype;
    const own = kind
      ? [
          this.node({ kind, group, dependency: "config" }, text(at(found, "name")), {
            optional: true,
            ...(kind.includes("Cluster") ? { namespace: "" } : {}),
          }),
        ]
      : [];
    const ref = at(vm, "status", `${matcher}Ref`);
    const revision = isSet(ref)
      ? text(at(ref, "controllerRevisionRef", "name"))
      : text(at(found, "revisionName"));
    return revision ? [...own, this.node(kinds.revision, revision)] : own;
  }

  #credentials(spec: unknown): readonly ObjectGraphNode[] {
    return objects(at(spec, "accessCredentials")).flatMap((credential) => {
      const source = ["sshPublicKey", "userPassword"]
        .map((kind) => at(credential, kind, "source", "secret"))
        .find(isSet);
      return isSet(source) ? [this.node(kinds.secret, text(at(source, "secretName")))] : [];
    });
  }

  #volumes(spec: unknown): readonly ObjectGraphNode[] {
    return objects(at(spec, "volumes")).flatMap((volume) => this.#volume(volume));
  }

  #volume(volume: JsonObject): readonly ObjectGraphNode[] {
    if (isSet(volume["dataVolume"])) {
      const name = text(at(volume, "dataVolume", "name"));
      return [this.node(kinds.dataVolume, name, { children: [this.node(kinds.claim, name)] })];
    }
    const single = [
      [kinds.claim, "persistentVolumeClaim", "claimName"],
      [kinds.configMap, "configMap", "name"],
      [kinds.secret, "secret", "secretName"],
      [kinds.serviceAccount, "serviceAccount", "serviceAccountName"],
    ] as const;
    for (const [kind, source, field] of single) {
      if (isSet(volume[source])) return [this.node(kind, text(at(volume, source, field)))];
    }
    const cloudInit = volume["cloudInitNoCloud"] ?? volume["cloudInitConfigDrive"];
    return ["secretRef", "networkDataSecretRef"]
      .map((field) => at(cloudInit, field))
      .filter(isSet)
      .map((reference) => this.node(kinds.secret, text(at(reference, "name"))));
  }

  async #stateClaimOf(vmName: string): Promise<readonly ObjectGraphNode[]> {
    const label = { key: stateClaimLabel, value: vmName };
    const claims = await this.#context.lookup.persistentVolumeClaims(this.#namespace, label);
    const newest = claims
      .filter((claim) => claims.length === 1 || !isSet(at(claim, "metadata", "deletionTimestamp")))
      .toSorted((a, b) => (created(a) < created(b) ? 1 : -1))[0];
    return newest ? [this.node(kinds.claim, nameOf(newest))] : [];
  }

  #networks(spec: unknown): readonly ObjectGraphNode[] {
    return objects(at(spec, "networks")).flatMap((network) => {
      const found = text(at(network, "multus", "networkName"));
      if (!found) return [];
      const parts = found.split("/");
      const [namespace, name] = parts.length === 2 ? parts : [this.#namespace, found];
      return [this.node(kinds.network, text(name), { namespace: text(namespace), optional: true })];
    });
  }
}

function created(object: unknown): string {
  return text(at(object, "metadata", "creationTimestamp"));
}

/** Whether the guest has a TPM or firmware with persistent state. */
function keepsState(spec: unknown): boolean {
  return (
    at(spec, "domain", "devices", "tpm", "persistent") === true ||
    at(spec, "domain", "firmware", "bootloader", "efi", "persistent") === true
  );
}

function filtered(
  nodes: readonly ObjectGraphNode[],
  options: JsonObject,
): readonly ObjectGraphNode[] {
  const selector = options["labelSelector"] as LabelSelector | undefined;
  return nodes
    .filter((node) => !node.optional || options["includeOptionalNodes"] !== false)
    .filter((node) => !isSet(selector) || matchesSelector(selector, node.labels))
    .map(({ children, ...node }) => {
      const kept = filtered(children ?? [], options);
      return kept.length > 0 ? { ...node, children: kept } : node;
    });
}
