import { Socket } from "node:net";
import type { Names } from "@virtkit/api/names";
import { describeError } from "@virtkit/api/observe";
import { hasErrno } from "@virtkit/host-primitives";
import { makeDirectory, removeFile, type SafePath } from "@virtkit/host-primitives/safe-path";
import { connectUnix, listenUnix } from "@virtkit/host-primitives/sockets";
import { ControlLink, type MigrationIdentity } from "@virtkit/migration/handover";
import type { Encryption } from "@virtkit/migration/policy";
import {
  type ChannelKind,
  type SourceChannel,
  startSourceProxy,
  startTargetProxy,
  type TargetChannel,
} from "@virtkit/migration/proxy";
import type { MigrationSide } from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { migrationNetworkOf } from "./migration-address.ts";
import {
  portsBehind,
  type WayIn,
  type WayInOptions,
  type WayOptions,
  type WayOut,
  type WayOutOptions,
  type WaySockets,
} from "./migration-way.ts";
import { placeTlsFiles, removeTlsFiles } from "./sandbox-tls.ts";
import { targetExpects } from "./target-expects.ts";

/** The parts of a sandbox that its sockets need. */
type Place = Pick<Sandbox, "root" | "podUid">;

/** The channels, by their name in both proxies; the names never change. */
const channelNames = ["handover", "memory", "disks"] as const;
type ChannelName = (typeof channelNames)[number];

function kindOf(name: ChannelName, encryption: Encryption): ChannelKind {
  if (name === "handover") return "control";
  return encryption === "proxies" ? "sealed" : "data";
}

/**
 * Opens the connection into a sandbox: only the source's proxy of this migration reaches its launcher's sockets.
 */
export async function openWayIn(place: Place, names: Names, options: WayInOptions): Promise<WayIn> {
  const { migrationUID, address, credentials, log, metrics, signal } = options;
  const own = (name: string): string => launcherSocket(names, migrationUID, name);
  // Streams go only from the source to the target: nobody answers on the peer's socket, and the grant says what it
  // would.
  const sockets: WaySockets = {
    ...{ serve: own("h"), memory: own("m"), disks: own("d"), peer: own("p") },
  };
  const behind = { handover: sockets.serve, memory: sockets.memory, disks: sockets.disks };
  const targets = channelNames.map(
    (name): TargetChannel => ({
      ...{ name, kind: kindOf(name, options.encryption) },
      dial: (dialling) => dial(place, behind[name], dialling.signal),
    }),
  );
  using certified = certify(place, names, "target", options);
  const proxy = await startTargetProxy({
    ...{ uid: migrationUID, credentials, address, channels: targets, log, metrics },
    ...(signal ? { signal } : {}),
  });
  const uncertify = certified.keep();
  const ports = {
    [proxy.controlPort]: portsBehind.control,
    [proxy.dataPort]: portsBehind.data,
  };
  return {
    sockets,
    listener: { address, ports, network: migrationNetworkOf(address) },
    [Symbol.asyncDispose]: async () => {
      await proxy.close();
      uncertify();
    },
  };
}

/**
 * Opens the connection out of a sandbox, to where the target listens. Rejects if that is not the target of this
 * migration.
 */
export async function openWayOut(
  place: Place,
  names: Names,
  options: WayOutOptions,
): Promise<WayOut> {
  const { migrationUID, credentials, target, log, metrics, signal } = options;
  const port = portFinder(target.ports);
  const [controlPort, dataPort] = [port(portsBehind.control), port(portsBehind.data)];
  using certified = certify(place, names, "source", options);
  using folder = proxyFolder(place, names);
  // The launcher knows these names for as long as the migration lasts, also if this agent is restarted meanwhile.
  const key = migrationUID.slice(0, 8);
  const made: SourceChannel[] = [];
  const remove = (): void =>
    removeSockets(
      place,
      names,
      made.map(({ name }) => `${key}-${name}`),
    );
  try {
    for (const name of channelNames) {
      // Of an earlier agent. Nobody listens on it any more.
      removeSocket(folder, `${key}-${name}`);
      // Only root can write to the folder: no launcher can put a link in place of a socket before its mode is set.
      const listener = listenUnix(`${folder.procPath}/${key}-${name}`, {
        mode: 0o666,
        backlog: 64,
      });
      made.push({ name, kind: kindOf(name, options.encryption), listener });
    }
    const proxy = await startSourceProxy({
      ...{ uid: migrationUID, credentials, channels: made, log, metrics },
      target: { host: target.address, controlPort, dataPort },
      ...(signal ? { signal } : {}),
    });
    const uncertify = certified.keep();
    const seen = (name: ChannelName): string =>
      `${names.directories.migrationProxy}/${key}-${name}`;
    return {
      target,
      sockets: {
        ...{ peer: seen("handover"), memory: seen("memory"), disks: seen("disks") },
        serve: launcherSocket(names, migrationUID, "s"),
      },
      isReady: (migration, { signal: waiting }) =>
        answers(place, seen("handover"), migration, waiting),
      [Symbol.asyncDispose]: async () => {
        await proxy.close();
        remove();
        uncertify();
      },
    };
  } catch (error) {
    for (const { listener } of made) listener.close();
    remove();
    throw error;
  }
}

/** What is in a sandbox while a connection is open, or being opened. */
interface Certified extends Disposable {
  /** Keeps it; the given function removes it. */
  keep(): () => void;
}

/** Gives a sandbox's QEMU the certificate of its side, if QEMU encrypts. */
function certify(
  place: Place,
  names: Names,
  side: MigrationSide,
  { encryption, credentials, log }: WayOptions,
): Certified {
  const remove = (): void => {
    try {
      removeTlsFiles(place, names);
    } catch (error) {
      // The sandbox is gone, and its files with it; otherwise the next connection replaces them.
      log?.debug({ error: describeError(error) }, "a certificate was left in a sandbox");
    }
  };
  const isShown = encryption === "qemu";
  let isKept = !isShown;
  if (isShown) {
    try {
      placeTlsFiles(place, names, side, credentials);
    } catch (error) {
      remove();
      throw error;
    }
  }
  return {
    keep: () => {
      isKept = true;
      return isShown ? remove : () => {};
    },
    [Symbol.dispose]: () => {
      if (!isKept) remove();
    },
  };
}

/** Whether the target's launcher answers for this handover. */
async function answers(
  place: Place,
  path: string,
  migration: MigrationIdentity,
  signal: AbortSignal,
): Promise<boolean> {
  const link = new ControlLink(await dial(place, path, signal));
  try {
    return await targetExpects(link, migration, { signal });
  } finally {
    link.close();
  }
}

async function dial({ root }: Place, path: string, signal: AbortSignal): Promise<Socket> {
  using socket = root.resolve(path, "socket");
  const connection = await connectUnix(socket, { signal });
  return new Socket({
    ...{ fd: connection.release(), allowHalfOpen: true, readable: true, writable: true },
  });
}

/**
 * Where a launcher creates sockets itself: beside its own. Short, because a socket's path has at most 107 bytes.
 */
function launcherSocket({ directories }: Names, migrationUID: string, name: string): string {
  return `${directories.sockets}/${migrationUID.slice(0, 8)}-${name}`;
}

/**
 * The folder of the proxy's sockets in a sandbox. It belongs to root: a launcher can read it, but not change it.
 */
function proxyFolder({ root, podUid }: Place, { directories }: Names): SafePath {
  using entry = root.locate(directories.migrationProxy);
  try {
    makeDirectory(entry.directory, entry.name, 0o755).close();
  } catch (error) {
    if (!hasErrno(error, "EEXIST")) throw error;
  }
  const folder = entry.directory.child(entry.name, "directory");
  const { uid, mode } = folder.stat();
  if (uid === 0 && (mode & 0o022) === 0) return folder;
  folder.close();
  const message = `${directories.migrationProxy} of Pod ${podUid} is writable by its launcher; nothing is opened there: delete the Pod`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: directories.migrationProxy });
}

function removeSocket(folder: SafePath, file: string): void {
  try {
    removeFile(folder, file);
  } catch (error) {
    if (!hasErrno(error, "ENOENT")) throw error;
  }
}

function removeSockets(place: Place, names: Names, files: readonly string[]): void {
  for (const file of files) {
    try {
      using folder = proxyFolder(place, names);
      removeFile(folder, file);
    } catch {
      // The sandbox is gone, and its files with it; or somebody else has removed it.
    }
  }
}

function portFinder(ports: Readonly<Record<string, number>>): (behind: number) => number {
  return (behind) => {
    const found = Object.entries(ports).find(([, each]) => each === behind)?.[0];
    if (found !== undefined && /^\d{1,5}$/.test(found)) return Number(found);
    const path = "status.migrationState.targetDirectMigrationNodePorts";
    const message = `${path} names no port for ${behind}; the target's node agent is from another release`;
    throw new NodeAgentError("AGENT_ARGUMENT", message, { path });
  };
}
