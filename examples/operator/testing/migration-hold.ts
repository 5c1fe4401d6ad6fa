import { until } from "@virtkit/api/clock";
import type { Cluster } from "@virtkit/lab/cluster";
import type { MovingVm } from "./moving-vm.ts";
import { signalComponent } from "./node-components.ts";
import { qemusOfGuest } from "./qemu-of-guest.ts";

/** The phases of a migration in which something is broken, in order. */
export const faultPhases = [
  "Pending",
  "Scheduling",
  "Scheduled",
  "PreparingTarget",
  "TargetReady",
  "Running",
  "Succeeded",
] as const;

/** One of {@link faultPhases}. */
export type FaultPhase = (typeof faultPhases)[number];

/** A migration to hold. */
export interface MovingScene {
  readonly cluster: Cluster;
  readonly vm: MovingVm;
  /** Nodes. */
  readonly source: string;
  readonly target: string;
}

/** Lets a migration continue that was kept in its phase. May be called again. */
export type LetGo = () => Promise<void>;

/** On a VMI: the phase that its migration does not leave. On a namespace: that no Pod is created. */
const mark = "faults.virtkit.test/hold";

const held = `object.?metadata.annotations[?"${mark}"].orValue("")`;
const state = (of: string, field: string): string =>
  `${of}.?status.migrationState.${field}.orValue("")`;
const isUnchanged = (field: string): string =>
  `${state("object", field)} == ${state("oldObject", field)}`;

/**
 * Makes the API server refuse, in one namespace, the write by which a migration leaves a phase, as long as a mark is set.
 * Most phases are over in a moment. This holds them without a timer, and without changes to the components.
 */
export async function installHolds(cluster: Cluster, namespace: string): Promise<AsyncDisposable> {
  const pods = `${namespace}-hold-pods`;
  const vmis = `${namespace}-hold-vmis`;
  const version = { apiVersion: "admissionregistration.k8s.io/v1" };
  const policy = (name: string, rule: object, labels: object, validations: object[]): object => ({
    ...{ ...version, kind: "ValidatingAdmissionPolicy", metadata: { name } },
    spec: {
      matchConstraints: { resourceRules: [rule], namespaceSelector: { matchLabels: labels } },
      validations,
    },
  });
  const own = { "kubernetes.io/metadata.name": namespace };
  const podRule = {
    ...{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] },
  };
  const vmiRule = {
    ...{ apiGroups: ["kubevirt.io"], apiVersions: ["*"], operations: ["UPDATE"] },
    resources: ["virtualmachineinstances", "virtualmachineinstances/status"],
  };
  const address = "targetNodeAddress";
  await cluster.apply(
    policy(pods, podRule, { ...own, [mark]: "Pending" }, [{ expression: "false" }]),
    policy(vmis, vmiRule, own, [
      { expression: `${held} != "Scheduled" || ${isUnchanged("migrationUid")}` },
      {
        expression: `${held} != "PreparingTarget" || ${state("object", address)} == "" || ${isUnchanged(address)}`,
      },
    ]),
    ...[pods, vmis].map((name) => ({
      ...{ ...version, kind: "ValidatingAdmissionPolicyBinding", metadata: { name } },
      spec: { policyName: name, validationActions: ["Deny"] },
    })),
  );
  return {
    async [Symbol.asyncDispose]() {
      const kind = "validatingadmissionpolicy";
      await cluster.kubectl(["delete", `${kind},${kind}binding`, pods, vmis, "--ignore-not-found"]);
    },
  };
}

/** Makes sure that the next migration does not get beyond a phase. Call it before the migration is created. */
export async function holdAt(phase: FaultPhase, scene: MovingScene): Promise<LetGo> {
  const { cluster, vm, source, target } = scene;
  const { kubectl } = cluster;
  switch (phase) {
    case "Pending":
      await kubectl(["label", "namespace", vm.namespace, `${mark}=Pending`, "--overwrite"]);
      return async () => void (await kubectl(["label", "namespace", vm.namespace, `${mark}-`]));
    case "Scheduling":
      await kubectl(["cordon", target]);
      return async () => void (await kubectl(["uncordon", target]));
    case "Scheduled":
    case "PreparingTarget":
      await kubectl(["annotate", "vmi", vm.name, "-n", vm.namespace, `${mark}=${phase}`]);
      return async () => await unmark(scene);
    case "TargetReady":
      await signalComponent(cluster, source, "virt-handler", "STOP");
      return async () => await signalComponent(cluster, source, "virt-handler", "CONT");
    case "Running":
      return await copySlowly(scene);
    case "Succeeded":
      return async () => {};
  }
}

/** A new VMI has no mark. */
async function unmark({ cluster, vm }: MovingScene): Promise<void> {
  const path = `/apis/kubevirt.io/v1/namespaces/${vm.namespace}/virtualmachineinstances/${vm.name}`;
  const { status, body } = await cluster.request(path, {
    ...{ method: "PATCH", contentType: "application/merge-patch+json" },
    body: { metadata: { annotations: { [mark]: null } } },
  });
  // The VMI may have ended.
  if (status === 200 || status === 404) return;
  throw new Error(
    `the hold stays, because the API server answered ${status}: ${JSON.stringify(body)}`,
  );
}

async function copySlowly({ cluster, vm, source }: MovingScene): Promise<LetGo> {
  const name = `slow-${vm.namespace}`;
  await cluster.apply({
    ...{ apiVersion: "migrations.kubevirt.io/v1alpha1", kind: "MigrationPolicy" },
    metadata: { name },
    spec: {
      bandwidthPerMigration: "512Ki",
      selectors: { namespaceSelector: { "kubernetes.io/metadata.name": vm.namespace } },
    },
  });
  return async () => {
    await cluster.kubectl(["delete", "migrationpolicy", name, "--ignore-not-found"]);
    await copyFast(vm, source);
  };
}

/** Milliseconds for a libvirt that answers late. Whatever ends with its launcher is gone in a fraction of that. */
const patience = { interval: 200, timeout: 60_000 };

/** Removes the limit of a copy that is under way, unless its QEMU has ended or copies nothing. */
export async function copyFast(vm: MovingVm, source: string): Promise<void> {
  let why: unknown;
  const isFast = async (): Promise<boolean> => {
    const qemu = qemusOfGuest(vm.namespace, vm.name).find(({ node }) => node === source);
    try {
      return (await qemu?.copyFast()) ?? true;
    } catch (error) {
      why = error;
      return false;
    }
  };
  if (await until(isFast, patience)) return;
  const what = `the guest on ${source} still copies slowly after ${patience.timeout / 1000} s`;
  throw new Error(what, { cause: why });
}

/** Waits until QEMU sends the guest's memory. Streams of a migration open earlier, and disks are copied first. */
export async function untilCopying(vm: MovingVm, source: string): Promise<void> {
  const isTrue = async (): Promise<boolean> => await isCopying(vm, source).catch(() => false);
  if (await until(isTrue, patience)) return;
  throw new Error(`the guest on ${source} does not copy after ${patience.timeout / 1000} s`);
}

async function isCopying(vm: MovingVm, source: string): Promise<boolean> {
  const qemu = qemusOfGuest(vm.namespace, vm.name).find(({ node }) => node === source);
  return (await qemu?.isCopying()) === true;
}

/**
 * Whether a migration has reached a phase. Only the grant shows `TargetReady`: the controller does not write it. A migration
 * is `Running` for a moment before QEMU sends anything; what breaks then breaks the connection, not the copy.
 */
export async function isReached(
  phase: FaultPhase,
  { vm, source }: MovingScene,
  migration: string,
): Promise<boolean> {
  const { metadata, status } = (await vm.get("vmim", migration)) as unknown as SeenMigration;
  if (phase === "TargetReady") {
    const grant = await vm.grant();
    return grant.state === "HandingOver" && grant.migrationUID === metadata.uid;
  }
  if (status?.phase !== phase) return false;
  if (phase !== "Running") return true;
  return await isCopying(vm, source);
}

interface SeenMigration {
  readonly metadata: { readonly uid: string };
  readonly status?: { readonly phase?: string };
}
