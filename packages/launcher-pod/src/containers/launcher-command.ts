import type { Launch } from "../launcher-profile.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { launcherGracePeriod } from "./grace-period.ts";

/** What the profile needs to know to write the compute container's command line. */
export function launchOf(request: LauncherRequest): Launch {
  const { config, spec, annotations: own, names } = request;
  return {
    name: request.name,
    namespace: request.namespace,
    uid: request.uid,
    gracePeriodSeconds: launcherGracePeriod(spec),
    hookSidecars: request.sidecars.length,
    firmwareDirectory: config.ovmfPath(spec.architecture ?? ""),
    diskMemoryLimit: config.diskVerificationMemoryLimit?.value() ?? 0n,
    hypervisor: config.hypervisor.name ?? "",
    nonRoot: request.nonRoot,
    allowEmulation: config.useEmulation,
    keepAfterFailure: keepsAfterFailure(own, names.annotations.keepLauncherAfterFailure),
    simulateCrash: own[names.annotations.testFailFast] !== undefined,
    libvirtLogFilters: own[names.annotations.libvirtLogFilters],
    temporary: request.temporary,
    gate: (name) => config.gate(name),
  };
}

/** Any annotation with this prefix counts, if it is empty or begins with "true". */
function keepsAfterFailure(all: Readonly<Record<string, string>>, prefix: string): boolean {
  for (const key in all) {
    if (!key.startsWith(prefix)) continue;
    const value = all[key];
    if (value === "" || value?.startsWith("true")) return true;
  }
  return false;
}
