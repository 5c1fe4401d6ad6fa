import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ClusterLookup } from "./cluster-lookup.ts";
import { logVerbosityOf } from "./containers/log-verbosity.ts";
import type { Explain } from "./explain.ts";
import { hasDedicatedCpus, isNonRoot } from "./guest-traits.ts";
import { hookSidecarsOf } from "./hook-sidecars.ts";
import type { LauncherProfile } from "./launcher-profile.ts";
import type { LauncherRequest } from "./launcher-request.ts";
import { overheadTotal } from "./memory-overhead.ts";
import { wantsGuaranteedQos } from "./quality-of-service.ts";
import { virtkitLauncherProfile } from "./virtkit-profile.ts";
import { vmiIdentity } from "./vmi-identity.ts";

/** Options for rendering Pods. */
export interface RenderOptions {
  /** The launcher that the Pod is for; by default Virtkit's own. */
  readonly profile?: LauncherProfile;
  /** Called with the origin of each part of the Pod. */
  readonly explain?: Explain;
}

/** What a kind of Pod knows in addition to the VMI. */
export interface RequestDetails {
  readonly pinnedImages: ReadonlyMap<string, string>;
  readonly stateClaim: string;
  readonly temporary: boolean;
}

/** Determines the facts that several steps need. Throws if the VMI has no name, namespace or domain. */
export function openRequest(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  lookup: ClusterLookup,
  options: RenderOptions,
  details: RequestDetails,
): LauncherRequest {
  const { metadata, spec } = vmi;
  const { names } = config;
  const { profile = virtkitLauncherProfile({ names }), explain } = options;
  const { name, namespace } = vmiIdentity(vmi);
  const labels = metadata?.labels ?? {};
  return {
    vmi,
    name,
    namespace,
    uid: metadata?.uid ?? "",
    labels,
    annotations: metadata?.annotations ?? {},
    spec,
    domain: spec.domain,
    devices: spec.domain.devices,
    status: vmi.status ?? {},
    config,
    lookup,
    profile,
    names,
    nonRoot: isNonRoot(vmi, names),
    guaranteed: hasDedicatedCpus(spec) || wantsGuaranteedQos(spec),
    imageVolumes: config.gate("ImageVolume"),
    sidecars: hookSidecarsOf(vmi, config, names),
    logVerbosity: logVerbosityOf(labels, config),
    memoryOverhead: overheadTotal(vmi, config, profile),
    explain,
    pinnedImages: details.pinnedImages,
    stateClaim: details.stateClaim,
    temporary: details.temporary,
  };
}
