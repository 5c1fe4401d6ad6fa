import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { hasErrno } from "@virtkit/host-primitives";
import { runIn } from "@virtkit/host-primitives/namespaces";
import { makeDirectory, openRoot, type SafePath } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import type { MountPlace } from "@virtkit/node-agent/prepare";
import { localNames } from "./local-names.ts";
import type { VmiMove } from "./move-file.ts";
import { launcherUid, type PodMount } from "./pod-volumes.ts";

/** Sockets by which the launchers and QEMUs of both sandboxes of a move reach each other, as both see them. */
export interface HandoverSockets {
  /** Where the source answers how it decided, and where the target receives the phases. */
  readonly source: string;
  readonly target: string;
  /** Where the target's QEMU receives memory, and the content of disks. */
  readonly memory: string;
  readonly disks: string;
}

type Named = Pick<VmiMove, "migrationUID" | "target">;

/** Short: a socket's path has at most 107 bytes. Only root of the sandbox can write above it. */
function placeOf({ migrationUID }: Named): string {
  return `/run/virtkit/${migrationUID.slice(0, 8)}`;
}

export function handoverSockets(move: Named): HandoverSockets {
  const place = placeOf(move);
  const socket = (name: string): string => `${place}/${name}`;
  return {
    ...{ source: socket("s"), target: socket("t") },
    ...{ memory: socket("m"), disks: socket("d") },
  };
}

/**
 * Creates the one folder that both sandboxes of a move see, below the target's, and returns how the
 * target's own script mounts it. Nothing lies between the two QEMUs: they share a kernel.
 */
export async function makeHandoverFolder(stateDirectory: string, move: Named): Promise<PodMount> {
  const source = folderOf(stateDirectory, move);
  await mkdir(source, { recursive: true, mode: 0o700 });
  await chown(source, launcherUid, launcherUid);
  return { source, target: placeOf(move), readOnly: false, kind: "directory" };
}

function folderOf(stateDirectory: string, { target }: Named): string {
  return join(localNames(stateDirectory, target).directory, "handover");
}

/** Shows the folder to a sandbox that runs. Where it does already nothing is done. */
export async function mountHandoverFolder(
  stateDirectory: string,
  move: Named,
  { root, mounts }: MountPlace,
): Promise<void> {
  using opened = openRoot(folderOf(stateDirectory, move));
  using folder = opened.directory();
  using run = root.resolve("/run", "directory");
  using above = makeOrFind(run, "virtkit");
  using point = makeOrFind(above, move.migrationUID.slice(0, 8));
  if (point.isMountRoot()) return;
  const { descriptors } = await runIn([], "detachedBind", {
    source: borrow(folder),
    options: { readOnly: false, noSuid: true, noDev: true, noExec: true, propagation: "private" },
  });
  const [mount] = descriptors;
  if (!mount) {
    throw new NodeAgentError("AGENT_SANDBOX", `${folder.description} could not be cloned`);
  }
  using tree = mount;
  await runIn([mounts], "attachMount", {
    mount: { fd: tree.fd, description: tree.what },
    target: borrow(point),
  });
}

function makeOrFind(parent: SafePath, name: string): SafePath {
  try {
    // The launcher's user must be able to pass.
    makeDirectory(parent, name, 0o755).close();
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
  }
  return parent.child(name, "directory");
}

function borrow({ fd, description }: SafePath): { fd: number; description: string } {
  return { fd, description };
}
