import { RootedDirectory } from "./files/rooted-directory.ts";
import { type WriteOptions, writeImageOnce } from "./files/write-image.ts";

/** Larger than any variable store of OVMF or AAVMF, which have 64 MiB at most. */
const largestStore = 64 << 20;

/**
 * Copies a firmware's variable template to the guest's own file, unless that exists: it holds the
 * guest's boot entries and keys. Returns whether it was created.
 *
 * @throws DiskError if the template is missing, not a regular file, or over 64 MiB.
 */
export async function createFirmwareVariables(
  template: string,
  path: string,
  { mode = 0o600, ...options }: WriteOptions = {},
): Promise<boolean> {
  return await writeImageOnce(
    path,
    async () => {
      await using root = await RootedDirectory.open("/");
      const bytes = await root.read(template, largestStore);
      return { size: bytes.length, extents: [{ offset: 0, bytes }] };
    },
    { mode, durable: true, ...options },
  );
}
