import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory that vanishes at the end of the test. */
export interface TemporaryDirectory {
  readonly path: string;
  /** Writes files, by path below the directory; what begins with `-> ` is a link. */
  fill(files: Readonly<Record<string, string>>): Promise<void>;
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "virtkit-disks-"));
  onTestFinished(async () => await rm(path, { recursive: true, force: true }));
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
  };
}
