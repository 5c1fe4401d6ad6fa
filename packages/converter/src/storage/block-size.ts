import type { CustomBlockSize, Disk } from "@virtkit/api/schema";
import type { BlockSizes } from "../context.ts";
import { invalidContext, invalidVmi } from "../converter-error.ts";
import type { Draft } from "../draft.ts";
import type { DomainBlockIo, DomainDisk } from "../model/disk.ts";
import { backendOf } from "./backend.ts";

/** The block sizes that a disk shows: as set, or those of its volume; `undefined` for the default. */
export function blockSizeOf(
  { architecture, context }: Draft,
  { blockSize }: Disk,
  disk: DomainDisk,
  path: string,
): DomainBlockIo | undefined {
  if (!blockSize) return undefined;
  if (blockSize.custom) {
    return statedSizes(blockSize.custom, architecture.maxBlockSize, `${path}.blockSize.custom`);
  }
  if (!blockSize.matchVolume || blockSize.matchVolume.enabled === false) return undefined;
  const backend = backendOf(disk);
  if (backend.path === "") {
    throw invalidVmi(`${path}.blockSize.matchVolume`, "the disk has no volume to match");
  }
  const sizes = context.host?.blockSizes?.[backend.path];
  if (!sizes) {
    const message = `the block size of ${backend.path}, which the disk must match, is unknown`;
    throw invalidContext("host.blockSizes", message);
  }
  return backend.isBlock ? deviceSizes(sizes, backend.path) : filesystemSizes(sizes);
}

function statedSizes(
  { logical = 0, physical = 0, discardGranularity }: CustomBlockSize,
  limit: number,
  path: string,
): DomainBlockIo {
  if (logical > limit || physical > limit) {
    const message = `${logical} and ${physical} bytes exceed the maximum of ${limit} on this architecture`;
    throw invalidVmi(path, message);
  }
  return {
    logicalBlockSize: logical || undefined,
    physicalBlockSize: physical || undefined,
    discardGranularity: discardGranularity ?? undefined,
  };
}

/** A file system has one block size for everything. */
function filesystemSizes({ filesystemBsize = 0 }: BlockSizes): DomainBlockIo {
  return {
    logicalBlockSize: filesystemBsize || undefined,
    physicalBlockSize: filesystemBsize || undefined,
    discardGranularity: filesystemBsize,
  };
}

/** Some devices report only one of the two sizes, or a granularity that is not a multiple. */
function deviceSizes(sizes: BlockSizes, path: string): DomainBlockIo {
  const { logical = 0, physical = 0, discardGranularity = 0 } = sizes;
  if (logical === 0 && physical === 0) {
    throw invalidContext("host.blockSizes", `the device ${path} reports no block size`);
  }
  const logicalBlockSize = logical || physical;
  return {
    logicalBlockSize,
    physicalBlockSize: physical || logical,
    discardGranularity: discardGranularity % logicalBlockSize === 0 ? discardGranularity : physical,
  };
}
