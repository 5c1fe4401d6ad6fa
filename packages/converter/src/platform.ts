import { type Names, type NamesOptions, names } from "@virtkit/api/names";
import type { ConverterContext } from "./context.ts";
import { LauncherPaths } from "./launcher-paths.ts";

/** A platform's names, and the paths of its launchers' files. */
export interface Platform {
  readonly names: Names;
  readonly paths: LauncherPaths;
}

const kubevirt = platform(names());

/** By their options: creating all names takes longer than a conversion. */
const others = new WeakMap<NamesOptions, Platform>();

/** The platform of a context; KubeVirt by default. */
export function platformOf({ names: options }: Pick<ConverterContext, "names">): Platform {
  if (!options) return kubevirt;
  let other = others.get(options);
  if (!other) {
    other = platform(names(options));
    others.set(options, other);
  }
  return other;
}

/** The platform with the given names. */
export function platform(all: Names): Platform {
  return { names: all, paths: new LauncherPaths(all.directories) };
}

/** The names that the paths in a context's domain use. */
export function contextNames(context: Pick<ConverterContext, "names">): Names {
  return platformOf(context).names;
}
