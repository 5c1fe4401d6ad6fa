import { createHash } from "node:crypto";
import type { KubeVirtCondition, KubeVirtStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { timestamp } from "../plan/timestamp.ts";
import { componentNames, componentOf } from "./component.ts";
import type { InstallationView } from "./installation-view.ts";

/**
 * The status of an installation, as users, the updates of VMs and the configuration read it. It is `Deployed` once every
 * program has been rolled out with its present image. If a Pod fails later, it stays so, and the conditions say what is
 * missing. What others have written stays.
 */
export function installationStatus(view: InstallationView, now: number): KubeVirtStatus {
  const { kubevirt, workloads, launcherImage, architecture } = view;
  const before = kubevirt.status ?? {};
  const found = componentNames.map((name) => componentOf(name, workloads));
  const images = found.map((component, n) => [componentNames[n], component?.image ?? ""]);
  const config = JSON.stringify(Object.fromEntries([...images, ["virt-launcher", launcherImage]]));
  const target = {
    config,
    id: createHash("sha256").update(config).digest("hex").slice(0, 40),
    ...partsOf(launcherImage),
  };
  const isRolledOut = found.every((component) => component?.isRolledOut);
  const wasDeployed = before.phase === "Deployed" && before.observedDeploymentID === target.id;
  const isDeployed = isRolledOut || wasDeployed;
  const unready = componentNames.filter((_, n) => !found[n]?.isRolledOut);
  const status: KubeVirtStatus = {
    ...before,
    phase: isDeployed ? "Deployed" : "Deploying",
    defaultArchitecture: text(before.defaultArchitecture) || architecture,
    targetDeploymentConfig: target.config,
    targetDeploymentID: target.id,
    targetKubeVirtRegistry: target.registry,
    targetKubeVirtVersion: target.version,
    ...(isDeployed && {
      observedDeploymentConfig: target.config,
      observedDeploymentID: target.id,
      observedKubeVirtRegistry: target.registry,
      observedKubeVirtVersion: target.version,
    }),
    ...(kubevirt.metadata?.generation !== undefined && {
      observedGeneration: kubevirt.metadata.generation,
    }),
  };
  const isUpdate = text(before.observedDeploymentID) !== "";
  const under = isUpdate ? "UpdateInProgress" : "DeploymentInProgress";
  const waiting = `not all Pods of ${unready.join(", ")} are up to date and ready`;
  const why = isDeployed ? "ComponentsNotReady" : under;
  const well = { reason: "AllComponentsReady", message: "all components are ready" };
  const bad = { reason: why, message: waiting };
  const observed: readonly (readonly [KubeVirtCondition["type"], boolean, typeof well])[] = [
    ["Created", !found.includes(undefined), createdReason(found.includes(undefined))],
    ["Available", found.every((component) => component?.isServing), isRolledOut ? well : bad],
    ["Progressing", !isDeployed, isDeployed ? well : bad],
    ["Degraded", !isRolledOut && isUpdate, isRolledOut ? well : bad],
  ];
  const time = timestamp(now);
  const conditions = observed.reduce<readonly KubeVirtCondition[]>(
    (all, [type, holds, because]) => withCondition(all, { type, holds, time, ...because }),
    before.conditions ?? [],
  );
  return { ...status, conditions: [...conditions] };
}

function createdReason(isMissing: boolean): { readonly reason: string; readonly message: string } {
  return isMissing
    ? { reason: "ResourcesMissing", message: "not all components have been created" }
    : { reason: "AllResourcesCreated", message: "all components have been created" };
}

/** The time of a transition is that of the status: another reason alone does not change it. */
function withCondition(
  conditions: readonly KubeVirtCondition[],
  {
    type,
    holds,
    time,
    ...because
  }: Pick<KubeVirtCondition, "type"> & {
    readonly holds: boolean;
    readonly time: string;
    readonly reason: string;
    readonly message: string;
  },
): readonly KubeVirtCondition[] {
  const status = holds ? "True" : "False";
  const index = conditions.findIndex((each) => each.type === type);
  const before = conditions[index];
  const isSame = before?.status === status;
  if (isSame && before.reason === because.reason && before.message === because.message) {
    return conditions;
  }
  const lastTransitionTime = (isSame && before.lastTransitionTime) || time;
  const after = { type, status, ...because, lastProbeTime: time, lastTransitionTime };
  return before ? conditions.with(index, after) : [...conditions, after];
}

/** The registry and the version in an image reference. */
function partsOf(image: string): { readonly registry: string; readonly version: string } {
  const end = image.lastIndexOf("/");
  const name = image.slice(end + 1);
  const digest = name.indexOf("@");
  const mark = digest < 0 ? name.indexOf(":") : digest;
  return {
    registry: image.slice(0, Math.max(0, end)),
    version: mark < 0 ? "" : name.slice(mark + 1),
  };
}
