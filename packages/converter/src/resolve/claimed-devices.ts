import type { GPU, HostDevice, VirtualMachineInstance } from "@virtkit/api/schema";
import type { AssignedHostDevice } from "../context.ts";
import { invalidContext, invalidVmi } from "../converter-error.ts";
import { mediatedDevice, pciDevice } from "./assigned-device.ts";
import { type ClaimedDevice, claimedDevice } from "./device-metadata.ts";

type Files = Readonly<Record<string, string>>;

/** Whether a device comes from a resource claim, not from a device plugin. */
export function usesClaim({ deviceName, claimName, requestName }: HostDevice | GPU): boolean {
  return !deviceName && (isSet(claimName) || isSet(requestName));
}

/** Host devices from resource claims. */
export function claimedHostDevices(
  vmi: VirtualMachineInstance,
  files: Files,
): AssignedHostDevice[] {
  const model = vmi.spec.architecture === "s390x" ? "vfio-ap" : "vfio-pci";
  return claimed(vmi, vmi.spec.domain.devices?.hostDevices ?? [], "hostDevices", files).map(
    ({ device, found, path }) => {
      const alias = `dra-hostdevice-${device.name ?? ""}`;
      return found.uuid === undefined
        ? pciDevice(alias, found.pciAddress, path)
        : mediatedDevice(alias, found.uuid, model);
    },
  );
}

/** What a claim assigned for a host device: a mediated or otherwise a PCI device. */
type Assigned =
  | { readonly uuid: string }
  | { readonly uuid?: undefined; readonly pciAddress: string };

/** A device of the VMI and what its claim assigned. */
export interface Claimed<T> {
  readonly device: T;
  readonly found: Assigned;
  readonly path: string;
}

/** What the claims of a list of devices assigned. */
export function claimed<T extends HostDevice | GPU>(
  vmi: VirtualMachineInstance,
  devices: readonly T[],
  field: "hostDevices" | "gpus",
  files: Files,
): Claimed<T>[] {
  const list: Claimed<T>[] = [];
  for (const [at, device] of devices.entries()) {
    if (!usesClaim(device)) continue;
    const path = `spec.domain.devices.${field}[${at}]`;
    const { claimName, requestName } = device;
    if (!claimName || !requestName) {
      throw invalidVmi(path, `"${device.name}" needs claimName and requestName`);
    }
    const claims = vmi.spec.resourceClaims ?? [];
    const found = claimedDevice(files, claims, claimName, requestName, path);
    list.push({ device, path, found: assigned(found, path) });
  }
  return list;
}

/** The address of a mediated device is its parent's, which must not be assigned. */
function assigned({ uuid, pciAddress }: ClaimedDevice, path: string): Assigned {
  if (uuid !== undefined) return { uuid };
  if (pciAddress !== undefined) return { pciAddress };
  const message = `the claim of ${path} assigned neither a mediated nor a PCI device`;
  throw invalidContext("hostFiles", message);
}

function isSet(value: string | null | undefined): boolean {
  return value !== undefined && value !== null;
}
