import { matchesSelector } from "@virtkit/api/match-labels";
import type { LauncherRequest } from "../launcher-request.ts";
import { readDecimal } from "../read-decimal.ts";

const defaultMemoryRatio = 2;

/** Whether a quota of the namespace counts a resource, so that Pods must set it. */
export function hasQuotaOn({ lookup, namespace }: LauncherRequest, resource: string): boolean {
  for (const { spec } of lookup.resourceQuotas(namespace)) {
    if (spec?.hard && Object.hasOwn(spec.hard, resource)) return true;
  }
  return false;
}

/** Whether the configuration wants CPU limits in this namespace. */
export function matchesCpuLimitNamespace(request: LauncherRequest): boolean {
  const selector = request.config.autoCpuLimitNamespaceLabelSelector;
  if (!selector) return false;
  const namespace = request.lookup.namespace(request.namespace);
  return namespace !== undefined && matchesSelector(selector, namespace.metadata.labels ?? {});
}

/** The factor from the request to a derived memory limit: a label of the namespace, or 2. */
export function memoryLimitRatio({ lookup, namespace, names }: LauncherRequest): number {
  const label = lookup.namespace(namespace)?.metadata.labels?.[names.labels.autoMemoryLimitsRatio];
  const ratio = readDecimal(label) ?? 0;
  return ratio >= 1 ? ratio : defaultMemoryRatio;
}
