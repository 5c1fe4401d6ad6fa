import { type Clock, until } from "@virtkit/api/clock";
import { type Names, names as wellKnownNames } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { hasErrno, isHostError } from "@virtkit/host-primitives";
import type { SafePath } from "@virtkit/host-primitives/safe-path";
import {
  connectLauncher,
  dialSafely,
  handOverSockets,
  handoverSocket,
  isLauncherError,
  type LauncherClient,
} from "@virtkit/launcher/client";
import { parseResolvConf, type ResolvConf } from "@virtkit/network-setup/dhcp";
import { NodeAgentError } from "../node-agent-error.ts";
import type { SocketReceiver } from "../prepare/guest-network.ts";
import { assertRunning, type Sandbox } from "../sandbox/sandbox.ts";

/** How to reach a launcher. */
export interface ReachOptions {
  readonly names?: Names;
  /** Milliseconds until the launcher must be ready. Default 60,000. */
  readonly readyTimeout?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** How often a launcher that is not ready yet is checked. */
const lookInterval = 25;

/**
 * Waits until a sandbox's launcher is ready, which the name of its socket shows, and connects to it. The
 * socket is found inside the sandbox's root and never through a link.
 *
 * @throws NodeAgentError `AGENT_TIMEOUT` if it does not become ready, `AGENT_SANDBOX_GONE` if it
 *   ends, `AGENT_LAUNCHER` if it belongs to another VMI; LauncherError if it does not answer.
 */
export async function reachLauncher(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  { names = wellKnownNames(), readyTimeout = 60_000, clock, signal }: ReachOptions = {},
): Promise<LauncherClient> {
  const path = names.sockets.launcher;
  const attempt = async (): Promise<LauncherClient | undefined> => {
    assertRunning(sandbox);
    return await tryConnect(sandbox, path, signal);
  };
  const patience = { clock, interval: lookInterval, timeout: readyTimeout, signal };
  const client = await until(attempt, patience);
  if (client) return await assertLauncherOf(vmi, client);
  const message = `the launcher of Pod ${sandbox.podUid} is not ready after ${readyTimeout} ms: nobody answers on ${path}; read its log, or end its process`;
  throw new NodeAgentError("AGENT_TIMEOUT", message, { path });
}

async function tryConnect(
  { root }: Sandbox,
  path: string,
  signal: AbortSignal | undefined,
): Promise<LauncherClient | undefined> {
  let opened: SafePath;
  try {
    opened = root.resolve(path, "socket");
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  using socket = opened;
  try {
    return await connectLauncher({ dial: dialSafely(socket), ...(signal ? { signal } : {}) });
  } catch (error) {
    // Nobody listens: an ended launcher has left it, and the next one is not ready yet.
    if (isLauncherError(error) && error.code === "LAUNCHER_CONNECT") return undefined;
    throw error;
  }
}

async function assertLauncherOf(
  { metadata }: VirtualMachineInstance,
  client: LauncherClient,
): Promise<LauncherClient> {
  try {
    const info = await client.info();
    if (info.vmi.uid === metadata?.uid) return client;
    const message = `the launcher in this sandbox is for the VMI ${info.vmi.uid}, not for ${metadata?.uid}; give each VMI its own sandbox`;
    throw new NodeAgentError("AGENT_LAUNCHER", message, { path: "metadata.uid" });
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A launcher as the receiver of the sockets on which it answers its guest's DHCP. */
export function socketReceiver(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  client: LauncherClient,
  { names = wellKnownNames(), clock, signal }: ReachOptions = {},
): SocketReceiver {
  return {
    served: async () => (await client.info()).servedNetworks,
    async take(opened) {
      using socket = sandbox.root.resolve(handoverSocket(names), "socket");
      const identity = { hostname: guestHostname(vmi), resolvConf: resolvConfOf(sandbox) };
      await handOverSockets(
        socket,
        opened.map(({ name, mac, servers, sockets }) => ({
          network: name,
          sockets,
          servers,
          identity: { mac, ...identity },
        })),
        { ...(clock ? { clock } : {}), ...(signal ? { signal } : {}) },
      );
    },
  };
}

/** `spec.hostname`, or the VMI's name up to the first dot, cut to a DNS label. */
function guestHostname({ spec, metadata }: VirtualMachineInstance): string {
  const [label = ""] = (metadata?.name ?? "").split(".");
  return spec.hostname || label.slice(0, 63);
}

/** The Pod's name servers; the defaults if its file is missing or not a regular file. */
function resolvConfOf({ root }: Sandbox): ResolvConf {
  try {
    using file = root.resolve("/etc/resolv.conf", "file");
    return parseResolvConf(file.read({ maxBytes: 65_536 }).toString("utf8"));
  } catch (error) {
    if (isHostError(error)) return parseResolvConf("");
    throw error;
  }
}
