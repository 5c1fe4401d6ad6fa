import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Clock, every, realClock } from "@virtkit/api/clock";
import { type ReapedOrphan, reapOrphans } from "@virtkit/host-primitives/process";

/** Node's announcement of each child that it is about to start. */
const announcements = "child_process";

/**
 * Does what PID 1 must do: removes ended orphans from the process table. QEMU is one, and libvirt waits for
 * its end. Our own children are left to Node, which would otherwise never learn of their end; Node announces
 * them, and only announced ones count.
 *
 * Begin before the first child is started.
 */
export function startReaper(
  onReaped: (orphans: readonly ReapedOrphan[]) => void = () => {},
  clock: Clock = realClock,
): Disposable {
  const own = new Set<ChildProcess>();
  const onChild = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    own.add(child);
    child.once("exit", () => own.delete(child));
    child.once("error", () => {
      if (child.pid === undefined) own.delete(child);
    });
  };
  const isOwn = (pid: number): boolean => [...own].some((child) => child.pid === pid);
  const reap = (): void => {
    const reaped = reapOrphans({ isOwn });
    if (reaped.length > 0) onReaped(reaped);
  };
  subscribe(announcements, onChild);
  process.on("SIGCHLD", reap);
  // Signals are merged while one is pending: one that came between two reads may have been the last.
  const stop = every(clock, 1_000, reap);
  return {
    [Symbol.dispose]: () => {
      unsubscribe(announcements, onChild);
      process.off("SIGCHLD", reap);
      stop();
    },
  };
}
