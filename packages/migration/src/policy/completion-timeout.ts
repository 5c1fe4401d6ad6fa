import { fromBytes, newQuantity, type Quantity } from "@virtkit/api/quantity";
import type { PersistentVolumeClaimInfo, VirtualMachineInstance } from "@virtkit/api/schema";
import { guardVmi } from "./guard-vmi.ts";
import { readAmount } from "./read-amount.ts";

/** Decimal: the field is called "per GiB" and counts gigabytes, as in KubeVirt. */
const giga = 9;

/**
 * How much a migration must move, in gigabytes, rounded up: the guest's memory (or its request, if the guest
 * states none), disks that migrate with it, and, if they are copied block by block, the ephemeral disks. A
 * VMI with another shape gives a `MigrationError` with the `path` of the field.
 */
export function migrationDataSize(vmi: VirtualMachineInstance, ephemeralDisksBytes = 0): number {
  return guardVmi(vmi, () => dataSize(vmi, ephemeralDisksBytes));
}

function dataSize(vmi: VirtualMachineInstance, ephemeralDisksBytes: number): number {
  let size = guestMemory(vmi);
  if (vmi.status?.migrationMethod === "BlockMigration")
    size = size.add(fromBytes(ephemeralDisksBytes));
  return Number(size.add(fromBytes(migratedVolumesBytes(vmi))).scaledValue(giga));
}

function guestMemory({ spec }: VirtualMachineInstance): Quantity {
  const { memory, resources } = spec.domain;
  const guest = memory?.guest ?? undefined;
  if (guest !== undefined) return readAmount(guest, "spec.domain.memory.guest");
  const requested = resources?.requests?.["memory"] ?? undefined;
  if (requested === undefined) return newQuantity(0, "BinarySI");
  return readAmount(requested, "spec.domain.resources.requests.memory");
}

function migratedVolumesBytes({ status }: VirtualMachineInstance): bigint {
  let bytes = 0n;
  for (const [index, { sourcePVCInfo }] of (status?.migratedVolumes ?? []).entries()) {
    const path = `status.migratedVolumes[${index}].sourcePVCInfo`;
    bytes += (sourcePVCInfo && diskBytes(sourcePVCInfo, path)) ?? 0n;
  }
  return bytes;
}

/** The smaller of what was requested and what there is. A claim that lacks one does not count. */
function diskBytes(info: PersistentVolumeClaimInfo, path: string): bigint | undefined {
  const has = info.capacity?.["storage"] ?? undefined;
  const wants = info.requests?.["storage"] ?? undefined;
  if (has === undefined || wants === undefined) return undefined;
  const capacity = readAmount(has, `${path}.capacity.storage`);
  const request = readAmount(wants, `${path}.requests.storage`);
  // Kubernetes has both as integers, or counts neither.
  if (capacity.asInt64() === undefined || request.asInt64() === undefined) return undefined;
  return (capacity.cmp(request) < 0 ? capacity : request).asInt64();
}

/** How long a migration may take, in seconds; 0 means no limit. */
export function acceptableCompletionSeconds(dataSize: number, secondsPerGigabyte: number): number {
  return dataSize * secondsPerGigabyte;
}

/** Whether a migration that has run for this many seconds is out of time. */
export function isOutOfTime(elapsedSeconds: number, acceptableSeconds: number): boolean {
  return acceptableSeconds !== 0 && elapsedSeconds > acceptableSeconds;
}
