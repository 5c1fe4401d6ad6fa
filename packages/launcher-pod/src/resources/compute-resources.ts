import type { LauncherRequest } from "../launcher-request.ts";
import type { Step } from "../pod-draft.ts";
import { dedicatedCpus, sharedCpus } from "./cpu-resources.ts";
import {
  confidentialDevices,
  gpuDevices,
  hostDevices,
  iommuDevice,
  networkClaims,
  networkDevices,
  reservationHelper,
  virtualizationDevices,
} from "./device-resources.ts";
import { ephemeralStorage } from "./ephemeral-storage.ts";
import {
  automaticMemoryLimit,
  hugePageMemory,
  memoryForOverhead,
  memoryRequest,
} from "./memory-resources.ts";
import { checkPermittedDevices } from "./permitted-devices.ts";
import type { ResourceRule } from "./resource-rule.ts";
import { closeSheet, openSheet, type ResourceSheet } from "./resource-sheet.ts";

/**
 * The rules in order. Memory is overcommitted before overhead is added to it; with dedicated CPUs the memory
 * limit is set to the request between the two.
 */
const rules: readonly ResourceRule[] = [
  ephemeralStorage,
  virtualizationDevices,
  checkPermittedDevices,
  memoryRequest,
  dedicatedCpus,
  sharedCpus,
  hugePageMemory,
  memoryForOverhead,
  automaticMemoryLimit,
  networkDevices,
  gpuDevices,
  hostDevices,
  networkClaims,
  confidentialDevices,
  reservationHelper,
  iommuDevice,
];

/** What the compute container requests from its node. */
export const computeResources: Step = (request, draft) => {
  const { limits, requests } = request.domain.resources ?? {};
  const sheet = openSheet(limits, requests);
  if (request.explain) explainStated(request, sheet);
  for (const rule of rules) rule(request, sheet);
  draft.resources = closeSheet(sheet);
};

function explainStated({ explain }: LauncherRequest, sheet: ResourceSheet): void {
  for (const bound of ["limits", "requests"] as const) {
    for (const name of sheet[bound].keys()) {
      explain?.(
        `spec.containers[compute].resources.${bound}[${name}]`,
        `vmi.spec.domain.resources.${bound}.${name}`,
        "set by the VMI",
      );
    }
  }
}
