import { chown, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext, Domain } from "@virtkit/converter";
import { type CloudInitData, readCloudInit } from "../disks/cloud-init/cloud-init-data.ts";
import { deviceMetadata } from "../disks/cloud-init/device-metadata.ts";
import { readLiveDevices } from "../disks/cloud-init/live-devices.ts";
import { DiskPaths } from "../disks/disk-paths.ts";
import { readSecrets } from "../disks/files/read-secrets.ts";
import { type FileOwner, inStep } from "../disks/files/write-image.ts";
import { createFirmwareVariables } from "../disks/firmware-variables.ts";
import { createHostDisk, planHostDisks } from "../disks/host-disk.ts";
import { cloudInitSecretNames } from "../disks/mounted-secret-names.ts";
import { planDisks } from "../disks/plan-disks.ts";
import { prepareDisks, writeCloudInit } from "../disks/prepare-disks.ts";
import type { GuestSession } from "./guest-session.ts";
import type { LocalPath } from "./launcher-files.ts";

type Preparing = Pick<GuestSession, "names" | "owner" | "identity" | "topology">;

/**
 * Creates the disks of a guest before its domain. Safe to repeat: what holds the guest's data is
 * kept. Returns the cloud-init data, if the VMI has any: its medium is written once more when the
 * devices have their addresses.
 *
 * @throws DiskError of the first disk that cannot be created.
 */
export async function prepareGuest(
  { names, owner, identity }: Preparing,
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  signal: AbortSignal,
): Promise<CloudInitData | undefined> {
  const paths = new DiskPaths(names.directories);
  await makeSocketDirectory(dirname(names.sockets.serial(identity.vmiUid)), owner);
  for (const step of planHostDisks(vmi, paths)) await createHostDisk(step, { owner });
  await prepareDisks(planDisks(vmi, { names, blockVolumes: blockVolumes(context) }), {
    owner,
    signal,
  });
  const secrets = await readSecrets(paths.secrets, cloudInitSecretNames(vmi));
  const data = readCloudInit(vmi, secrets, { names });
  if (data) await writeCloudInit(vmi, data, { names, owner, signal });
  return data;
}

/** QEMU creates the sockets of serial console and screen in it. */
async function makeSocketDirectory(path: string, owner: FileOwner | undefined): Promise<void> {
  await inStep("make", path, async () => {
    const made = await mkdir(path, { recursive: true });
    if (owner && made !== undefined) await chown(path, owner.uid, owner.gid);
  });
}

/** Copies the firmware's variables for a guest that boots with EFI, unless it has its own already. */
export async function prepareFirmware(
  { owner }: Preparing,
  { os: { nvram } }: Domain,
  localPath: LocalPath,
  signal: AbortSignal,
): Promise<void> {
  if (!nvram?.template || !nvram.path) return;
  const path = localPath(nvram.path);
  await createFirmwareVariables(nvram.template, path, { owner, signal });
}

/** Informs the guest which of its devices have which tags, if it has cloud-init and tags. */
export async function writeDeviceMetadata(
  { names, owner, topology }: Preparing,
  vmi: VirtualMachineInstance,
  data: CloudInitData,
  definedXml: string,
  signal: AbortSignal,
): Promise<void> {
  const devices = deviceMetadata(vmi, readLiveDevices(definedXml), { topology });
  if (devices.length > 0) await writeCloudInit(vmi, data, { names, owner, devices, signal });
}

function blockVolumes({ isBlockPVC, isBlockDV }: ConverterContext): ReadonlySet<string> {
  const all = Object.entries({ ...isBlockPVC, ...isBlockDV });
  return new Set(all.flatMap(([name, isBlock]) => (isBlock ? [name] : [])));
}
