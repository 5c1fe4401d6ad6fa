import { Socket } from "node:net";
import { isNodeAgentError } from "@virtkit/node-agent/errors";
import { bindPublished } from "./bind-published.ts";
import { forwardTcp } from "./forward-tcp.ts";
import { forwardUdp } from "./forward-udp.ts";
import type { PublishedPort } from "./published-port.ts";

/** What the forwarder of a Pod is told. */
export interface ForwarderTask {
  /** For whoever looks at the list of processes. */
  readonly podUid: string;
  readonly podAddress: string;
  readonly published: readonly PublishedPort[];
}

/** What it says when all ports are open. */
export const ready = "ready";

/** The descriptor whose other end the Pod's launcher holds. */
const lifeline = 3;

/** `nobody`, who owns nothing. */
const nobody = 65_534;

/**
 * The program that passes published ports on: listens in the host's network namespace, gives up root, and
 * says on its standard output `ready` or what is wrong. It ends when the launcher has ended, which closes
 * the lifeline.
 */
export async function main(argument: string): Promise<void> {
  const { podAddress, published } = JSON.parse(argument) as ForwarderTask;
  try {
    const all = await bindPublished(published);
    // Without a log: once it is ready nobody reads what it says.
    for (const bound of all) {
      const target = { address: podAddress, port: bound.port.guest };
      if (bound.protocol === "tcp") forwardTcp(bound.server, target);
      else forwardUdp(bound.socket, target);
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stdout.write(`${message}\n`);
    process.exit(isNodeAgentError(error) ? 2 : 1);
  }
  const life = new Socket({ fd: lifeline, readable: true, writable: false });
  const end = (): void => process.exit(0);
  // Nobody writes to it: whatever comes is the end.
  life.on("data", end).on("error", end).on("close", end);
  // Bound: from here on strangers are heard, and no right is needed any more.
  process.setgroups?.([]);
  process.setgid?.(nobody);
  process.setuid?.(nobody);
  process.stdout.write(`${ready}\n`);
}
