import { done, foreign, integer } from "../ffi/foreign.ts";
import { syscallNumber } from "../ffi/syscall-numbers.ts";

const maxPid = 4_194_304;

// Needed: a pid may be reused at any time; a pidfd always means the same process. Node has none.
// Safe: two plain integers; the kernel returns a close-on-exec descriptor.
const nativePidfdOpen = foreign("long", "syscall", ["long", "int", "uint"]);

/** Opens a descriptor of the process that has this pid now. `ESRCH` if there is none. */
export function pidfdOpen(pid: number): number {
  integer(pid, 1, maxPid, "pid");
  return done(nativePidfdOpen(syscallNumber("pidfdOpen"), pid, 0), "pidfd_open", `pid ${pid}`);
}

// Needed: checks whether the process of a pidfd still exists, and signals it and no other.
// Safe: integers and a null pointer, which the call allows for its third argument.
const nativePidfdSendSignal = foreign("long", "syscall", ["long", "int", "int", "buffer", "uint"]);

/**
 * Sends a signal to the process of a pidfd; signal 0 only checks whether it still exists (`ESRCH`
 * if not).
 */
export function pidfdSendSignal(pidfd: number, signal: number, touched: string): void {
  integer(signal, 0, 64, "signal");
  const number = syscallNumber("pidfdSendSignal");
  done(nativePidfdSendSignal(number, pidfd, signal, null, 0), "pidfd_send_signal", touched);
}
