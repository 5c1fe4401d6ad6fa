import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { until } from "@virtkit/api/clock";
import { LabError } from "../lab-error.ts";

/** A hierarchy of cgroups that is mounted on this host. */
interface Hierarchy {
  readonly path: string;
  readonly version: 1 | 2;
}

/** Creates a cgroup in every hierarchy, ready for processes to join. */
export async function makeCgroup(cgroup: string): Promise<void> {
  for (const { path, version } of await hierarchies()) {
    let parent = path;
    for (const name of cgroup.split("/")) {
      const own = join(parent, name);
      if (version === 2) await offerControllers(parent);
      await mkdir(own, { recursive: true });
      // A cpuset is empty at first, and then nothing can run in it.
      for (const file of ["cpuset.cpus", "cpuset.mems"].filter(() => version === 1)) {
        if (!existsSync(join(own, file))) continue;
        await writeFile(join(own, file), await readFile(join(parent, file)));
      }
      parent = own;
    }
  }
}

/**
 * Removes a cgroup and everything below it, in every hierarchy, once the last of its processes is
 * gone.
 */
export async function removeCgroup(cgroup: string): Promise<void> {
  await removeWith(cgroup, true);
}

/** Removes all that is below a cgroup. */
export async function emptyCgroup(cgroup: string): Promise<void> {
  await removeWith(cgroup, false);
}

async function removeWith(cgroup: string, itself: boolean): Promise<void> {
  for (const { path } of await hierarchies()) {
    const top = join(path, cgroup);
    // The kernel takes a moment to forget processes that have ended.
    const options = { interval: 20, timeout: 20_000 };
    if (await until(() => remove(top, itself), options)) continue;
    throw new LabError("LAB_CLUSTER", `${top} still has processes; end them`);
  }
}

async function remove(directory: string, itself: boolean): Promise<boolean> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    for (const entry of entries.filter((each) => each.isDirectory())) {
      if (!(await remove(join(directory, entry.name), true))) return false;
    }
    if (itself) await rmdir(directory);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return true;
    if (code === "EBUSY") return false;
    throw error;
  }
}

async function hierarchies(): Promise<Hierarchy[]> {
  const lines = (await readFile("/proc/self/mounts", "utf8")).split("\n");
  return lines.flatMap((line) => {
    const [, path = "", type] = line.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") return [];
    return [{ path, version: type === "cgroup2" ? (2 as const) : (1 as const) }];
  });
}

/** Version 2 gives a cgroup only the controllers that its parent offers. */
async function offerControllers(parent: string): Promise<void> {
  const file = join(parent, "cgroup.subtree_control");
  const offered = (await readFile(file, "utf8")).trim().split(" ");
  const all = (await readFile(join(dirname(file), "cgroup.controllers"), "utf8")).trim().split(" ");
  const missing = all.filter((name) => name && !offered.includes(name));
  if (missing.length > 0) await writeFile(file, missing.map((name) => `+${name}`).join(" "));
}
