import { Socket } from "node:net";
import { until } from "@virtkit/api/clock";
import { isNodeAgentError } from "@virtkit/node-agent/errors";
import { type Bound, bindPublished } from "./bind-published.ts";
import { forwardTcp } from "./forward-tcp.ts";
import { forwardUdp } from "./forward-udp.ts";
import type { PublishedPort } from "./published-port.ts";

/** Configuration of a Pod's forwarder. */
export interface ForwarderTask {
  /** For people who look at the list of processes. */
  readonly podUid: string;
  readonly podAddress: string;
  readonly published: readonly PublishedPort[];
  /** Whether another forwarder of the same VMI may have the ports: then it waits until that one ends. */
  readonly waits?: boolean;
}

/** Its message when all ports are open. */
export const ready = "ready";

/** The descriptor whose other end the Pod's launcher holds. */
const lifeline = 3;

/** `nobody`, who owns nothing. */
const nobody = 65_534;

/**
 * The program that forwards published ports: listens in the host's network namespace, drops root,
 * and prints `ready` or what is wrong. It ends when the launcher has ended, which closes the
 * lifeline.
 */
export async function main(argument: string): Promise<void> {
  const { podAddress, published, waits = false } = JSON.parse(argument) as ForwarderTask;
  const life = new Socket({ fd: lifeline, readable: true, writable: false });
  const end = (): void => process.exit(0);
  // Nobody writes to it: whatever arrives means the end.
  life.on("data", end).on("error", end).on("close", end);
  // Its Pod will receive a guest that another Pod still has, with the ports.
  if (waits) process.stdout.write(`${ready}\n`);
  try {
    const all = waits ? await bindWhenFree(published) : await bindPublished(published);
    // Without a log: once it is ready, nobody reads its output.
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
  // Bound: from here on it talks to strangers, and needs no privileges any more.
  process.setgroups?.([]);
  process.setgid?.(nobody);
  process.setuid?.(nobody);
  if (!waits) process.stdout.write(`${ready}\n`);
}

/** Milliseconds that a port may stay closed between two forwarders, and not many more. */
const lookInterval = 5;

async function bindWhenFree(published: readonly PublishedPort[]): Promise<readonly Bound[]> {
  const attempt = async (): Promise<readonly Bound[] | undefined> => {
    try {
      return await bindPublished(published);
    } catch (error) {
      if (isTaken(error)) return undefined;
      throw error;
    }
  };
  return (await until(attempt, { interval: lookInterval })) ?? [];
}

function isTaken(error: unknown): boolean {
  const { cause } = Object(error) as { cause?: { code?: unknown } };
  return isNodeAgentError(error) && cause?.code === "EADDRINUSE";
}
