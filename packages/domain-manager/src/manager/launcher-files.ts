import type { Names, RootDirectories } from "@virtkit/api/names";
import { type ConverterContext, contextNames } from "@virtkit/converter";

const roots = [
  "share",
  "private",
  "ephemeralDisks",
  "hooks",
  "imageVolumes",
  "kernelBoot",
  "libvirt",
] as const satisfies readonly (keyof RootDirectories)[];

/** Where this process sees a file that the domain names. */
export type LocalPath = (path: string) => string;

/**
 * Maps the files of a domain to where this process sees them. The domain uses the directories of
 * its context's names, as QEMU sees them; a process outside the launcher's mounts, such as a test,
 * has them elsewhere.
 */
export function localPaths(
  { directories }: Pick<Names, "directories">,
  context: Pick<ConverterContext, "names">,
): LocalPath {
  const named = contextNames(context).directories;
  return (path) => {
    const root = roots.find((name) => path.startsWith(`${named[name]}/`));
    if (root === undefined || named[root] === directories[root]) return path;
    return directories[root] + path.slice(named[root].length);
  };
}
