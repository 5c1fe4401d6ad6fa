import { constants, openSync } from "node:fs";
import { OwnedFd } from "@virtkit/host-primitives";
import { type SafePath, SafeRoot } from "@virtkit/host-primitives/safe-path";
import type { ContainerRoot, Sandbox } from "../sandbox/sandbox.ts";
import { ifThere } from "./bind-file.ts";

/** The root of an opened container, and what it is. */
export interface OpenContainer extends ContainerRoot, Disposable {
  /** Whether it is a volume of the sandbox, not a container beside it. */
  readonly isVolume: boolean;
}

/**
 * Opens the files of an image: from the container that the sandbox was opened with, else from the sandbox's volume
 * for the image. Undefined if it has neither. A directory that is not a mount is not a volume, and a link is
 * rejected.
 */
export function openContainer(
  given: ContainerRoot | undefined,
  { root, mounts }: Pick<Sandbox, "root" | "mounts">,
  volumePath: string,
): OpenContainer | undefined {
  if (given) return { ...given, isVolume: false, [Symbol.dispose]: () => undefined };
  const found = ifThere(() => root.resolve(volumePath, "directory"));
  if (!found) return undefined;
  using directory = found;
  if (!directory.isMountRoot()) return undefined;
  const volume = rootOf(directory);
  return { root: volume, mounts, isVolume: true, [Symbol.dispose]: () => volume.close() };
}

/** {@link openContainer} for the container of a disk. */
export function openDiskContainer(
  sandbox: Pick<Sandbox, "root" | "mounts" | "containers">,
  volume: string,
  volumePath: string,
): OpenContainer | undefined {
  const { containers } = sandbox;
  const given = Object.hasOwn(containers, volume) ? containers[volume] : undefined;
  return openContainer(given, sandbox, volumePath);
}

/** Not among Node's constants: a descriptor that only refers to the directory. */
const pathOnly = 0o10000000;

function rootOf({ fd, description }: SafePath): SafeRoot {
  // The link of our own descriptor: nobody else can replace it.
  const own = openSync(`/proc/self/fd/${fd}`, pathOnly | constants.O_DIRECTORY);
  return new SafeRoot(new OwnedFd(own, description));
}
