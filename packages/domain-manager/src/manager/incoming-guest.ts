import type { Names } from "@virtkit/api/names";
import type { Domain } from "@virtkit/converter";
import type { DeviceTopology } from "../disks/cloud-init/device-metadata.ts";
import type { FileOwner } from "../disks/files/write-image.ts";
import { localPaths } from "./launcher-files.ts";
import { nodeTopology } from "./node-topology.ts";
import { prepareFirmware, prepareGuest, writeDeviceMetadata } from "./prepare-guest.ts";
import type { GuestIdentity } from "./run-right.ts";
import { type WantedGuest, wantedDomain } from "./wanted-domain.ts";

/** The identity of the incoming guest, and where its files are created. */
export interface IncomingParts {
  readonly names: Names;
  readonly identity: GuestIdentity;
  readonly owner?: FileOwner | undefined;
  readonly topology?: DeviceTopology;
  readonly signal?: AbortSignal;
}

/** A guest that this launcher can receive. */
export interface IncomingGuest {
  /** The domain that this launcher would start itself. */
  readonly domain: Domain;
  /** Writes what depends on the addresses of the guest's devices, which only its source knows. */
  complete(sourceXml: string): Promise<void>;
}

/**
 * Creates everything that a guest needs besides its memory, for the target of a migration: overlays
 * on its images, empty disks, and media from what is mounted here, byte for byte those of the
 * source. QEMU copies what the guest has written since. Nothing is defined or started.
 *
 * @throws DiskError of the first disk that cannot be created.
 */
export async function prepareIncomingGuest(
  { names, identity, owner, topology = nodeTopology(), signal = never }: IncomingParts,
  guest: WantedGuest,
): Promise<IncomingGuest> {
  const { vmi, context } = guest;
  const session = { names, identity, owner, topology };
  const cloudInit = await prepareGuest(session, vmi, context, signal);
  const domain = await wantedDomain({ names }, guest);
  await prepareFirmware(session, domain, localPaths(names, context), signal);
  return {
    domain,
    async complete(sourceXml) {
      if (cloudInit) await writeDeviceMetadata(session, vmi, cloudInit, sourceXml, signal);
    },
  };
}

const never: AbortSignal = new AbortController().signal;
