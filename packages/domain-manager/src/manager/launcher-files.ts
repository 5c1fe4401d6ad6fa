import { type Directories, names, type RootDirectories } from "@virtkit/api/names";

const roots = [
  "share",
  "private",
  "ephemeralDisks",
  "hooks",
  "imageVolumes",
  "kernelBoot",
  "libvirt",
] as const satisfies readonly (keyof RootDirectories)[];

const standard = names().directories;

/**
 * Where this process sees a file that the domain names. The domain has KubeVirt's directories, as QEMU sees
 * them; a process outside the launcher's mounts, as a test, has them elsewhere.
 */
export function localPath(path: string, directories: Directories): string {
  const root = roots.find((name) => path.startsWith(`${standard[name]}/`));
  if (root === undefined || standard[root] === directories[root]) return path;
  return directories[root] + path.slice(standard[root].length);
}
