import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A directory that vanishes at the end of the block that holds it. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
  /** Writes files, by path below the directory; what begins with `-> ` is a link. */
  fill(files: Readonly<Record<string, string>>): Promise<void>;
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "virtkit-disks-"));
  return {
    path,
    fill: async (files) => {
      for (const [name, text] of Object.entries(files)) {
        const place = join(path, name);
        await mkdir(dirname(place), { recursive: true });
        if (text.startsWith("-> ")) await symlink(text.slice(3), place);
        else await writeFile(place, text);
      }
    },
    [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }),
  };
}
