import type { KubeVirt } from "@virtkit/api/schema";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { watch } from "@virtkit/kube/controller";
import { planInstallation } from "../installation/plan-installation.ts";
import { known, whenKnown } from "../plan/object-source.ts";
import { runPlan } from "../plan/run-plan.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import { daemonSetResource, deploymentResource } from "./shared-resources.ts";
import { sharedWatch } from "./shared-watch.ts";

/** Options of {@link installationPart}. */
export interface InstallationPartOptions {
  /** Of the installation: of its programs and its KubeVirt object. */
  readonly namespace: string;
  /** Of the programs, as Kubernetes names it. */
  readonly architecture: string;
}

/**
 * Keeps the status of the KubeVirt object up to date, as KubeVirt's operator does: VMs are updated only while the status
 * says that the installation is complete. If there are several objects, the oldest counts, as for the configuration.
 */
export function installationPart(options: InstallationPartOptions): ControllerPartMaker {
  return { name: "installation", make: (context) => make(context, options) };
}

function make(
  context: PartContext,
  { namespace, architecture }: InstallationPartOptions,
): ControllerPart {
  const { caches, names } = context;
  const deployments = new Cache<KubeObject>(deploymentResource, { namespace });
  const daemonSets = new Cache<KubeObject>(daemonSetResource, { namespace });
  const oldest = (): (KubeVirt & KubeObject) | undefined =>
    (whenKnown(() => known(caches.kubevirts.list())) ?? [])
      .filter(({ metadata }) => metadata.namespace === namespace)
      .toSorted((one, other) => bornOf(one).localeCompare(bornOf(other)))[0];
  const keys = (): readonly ObjectName[] => {
    const found = oldest();
    return found ? [{ namespace, name: found.metadata.name ?? "" }] : [];
  };
  return {
    concurrency: 1,
    watches: [
      sharedWatch(caches.kubevirts, { keys }),
      watch(deployments, { keys, follow: { namespace } }),
      watch(daemonSets, { keys, follow: { namespace } }),
    ],
    reconcile: async (name, { signal }) => {
      const { behindFor, ...runner } = context.runner(name);
      if (behindFor > 0) return { requeueAfter: behindFor };
      const kubevirt = oldest();
      if (!kubevirt || kubevirt.metadata.name !== name.name) return {};
      const workloads = [
        ...known(deployments.list({ namespace })),
        ...known(daemonSets.list({ namespace })),
      ];
      const launcherImage = context.config().profile.image;
      const view = { kubevirt, workloads, launcherImage, architecture };
      const now = context.wall().getTime();
      return await runPlan((outcomes) => planInstallation(view, { names }, now, outcomes), runner, {
        key: `${namespace}/${name.name}`,
        about: undefined,
        request: { signal },
      });
    },
  };
}

function bornOf({ metadata }: KubeObject): string {
  return metadata.creationTimestamp ?? "";
}
