import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import { apiVersionOf, type KubeObject } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { isControlledBy } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { podResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { changeOf, updateMigrations } from "./outdated.ts";
import type { LauncherPod, WorkloadConfig, WorkloadView } from "./workload-view.ts";

/** Carries out an update. Tries all VMIs and reports the first error. */
export class WorkloadWrites {
  error: PlanError | undefined;
  readonly #draft: PlanDraft;
  readonly #view: WorkloadView;
  readonly #config: WorkloadConfig;

  constructor(draft: PlanDraft, view: WorkloadView, config: WorkloadConfig) {
    this.#draft = draft;
    this.#view = view;
    this.#config = config;
  }

  /** Writes to the KubeVirt object how many VMIs are outdated. */
  count(outdated: number): PlanError | undefined {
    const { kubevirt } = this.#view;
    const path = "/status/outdatedVirtualMachineInstanceWorkloads";
    const before = at(kubevirt, "status", "outdatedVirtualMachineInstanceWorkloads");
    const operations = valuePatch(path, before, outdated);
    if (operations.length === 0) return undefined;
    const refusal = this.#draft.write({
      kind: "patch",
      resource: this.#resources.kubevirts,
      object: nameOf(kubevirt),
      subresource: "status",
      operations,
    });
    if (!refusal) return undefined;
    const message = `the number of outdated VMIs could not be recorded: ${refusal.message}`;
    return { kind: "other", reason: refusal.reason, message };
  }

  migrate(vmi: VirtualMachineInstance): void {
    const refusal = this.#draft.write({
      kind: "create",
      resource: this.#resources.migrations,
      object: this.#migrationOf(vmi),
    });
    if (refusal) {
      this.error ??= apiError(refusal);
      this.#tell(
        vmi,
        "Warning",
        "FailedCreate",
        `a migration could not be created: ${refusal.message}`,
      );
      return;
    }
    this.#tell(vmi, "Normal", "SuccessfulCreate", "a migration was created to update the VMI");
  }

  evict(vmi: VirtualMachineInstance): void {
    const pod = currentPod(vmi, this.#view.pods);
    if (!pod) {
      const message = "the VMI has no Pod to evict";
      this.error ??= { kind: "other", reason: "FailedEvict", message };
      this.#tell(vmi, "Warning", "FailedEvict", message);
      return;
    }
    const { name, namespace } = nameOf(pod);
    const podUID = uidOf(pod);
    const refusal = this.#draft.write({
      kind: "create",
      resource: podResource,
      subresource: "eviction",
      object: {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
        deleteOptions: { preconditions: { uid: podUID } },
      } as KubeObject,
      guest: { vmi: nameOf(vmi), uid: uidOf(vmi), podUID },
    });
    if (refusal && refusal.reason !== "NotFound") {
      this.error ??= apiError(refusal);
      this.#tell(vmi, "Warning", "FailedEvict", `Pod ${name} stays: ${refusal.message}`);
      return;
    }
    this.#tell(vmi, "Normal", "SuccessfulEvict", `Pod ${name} was evicted to update the VMI`);
  }

  abort(vmi: VirtualMachineInstance): void {
    for (const migration of updateMigrations(vmi, this.#view, this.#config)) {
      const { name } = nameOf(migration);
      const refusal = this.#draft.write({
        kind: "delete",
        resource: this.#resources.migrations,
        object: nameOf(migration),
        uid: uidOf(migration),
      });
      if (refusal) {
        this.error ??= apiError(refusal);
        const message = `migration ${name} could not be ended: ${refusal.message}`;
        this.#tell(vmi, "Normal", "FailedChangeAbortion", message);
        continue;
      }
      const message = `migration ${name} was ended, because the change was reverted`;
      this.#tell(vmi, "Normal", "SuccessfulChangeAbortion", message);
    }
  }

  get #resources(): ReturnType<typeof vmResources> {
    return vmResources(this.#config.names);
  }

  /**
   * A label says which migrations move volumes; a name that is too long for a label is replaced by
   * the UID.
   */
  #migrationOf(vmi: VirtualMachineInstance): KubeObject {
    const { annotations, labels } = this.#config.names;
    const { name, namespace } = nameOf(vmi);
    const change = changeOf(vmi);
    const label = name.length > 63 ? uidOf(vmi) : name;
    const migration = {
      metadata: {
        generateName: "kubevirt-workload-update-",
        ...(namespace === undefined ? {} : { namespace }),
        annotations: { [annotations.workloadUpdateMigration]: "" },
        ...(change === "volumes" ? { labels: { [labels.volumeUpdateMigration]: label } } : {}),
      },
      spec: { vmiName: name, priority: change ? "user-triggered" : "system-critical" },
    };
    const resource = this.#resources.migrations;
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...migration };
  }

  #tell(
    vmi: VirtualMachineInstance,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ): void {
    this.#draft.event({ type, reason, message, about: about(vmi, this.#resources.vmis) });
  }
}

/** The newest Pod of a VMI on its node; on any node while the VMI has none. */
function currentPod(
  vmi: VirtualMachineInstance,
  pods: readonly LauncherPod[],
): LauncherPod | undefined {
  const node = text(at(vmi, "status", "nodeName"));
  const uid = uidOf(vmi);
  const born = (pod: LauncherPod): string => text(pod.metadata.creationTimestamp);
  return pods
    .filter((pod) => isControlledBy(pod, uid) && nameOf(pod).namespace === nameOf(vmi).namespace)
    .filter((pod) => node === "" || text(pod.spec?.nodeName) === node)
    .reduce<LauncherPod | undefined>(
      (newest, pod) => (newest && born(newest) >= born(pod) ? newest : pod),
      undefined,
    );
}
