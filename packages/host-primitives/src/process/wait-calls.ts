import { done, foreign, integer } from "../ffi/foreign.ts";

const noHang = 1;

// Needed: Node waits for the children that it started and for no other; PID 1 also gets orphans.
// Safe: integers and a null pointer, which the call allows where nobody asks for the exit status.
const nativeWaitpid = foreign("int", "waitpid", ["int", "buffer", "int"]);

/** Takes an ended child's entry out of the process table; false while it runs. `ECHILD` where it is none. */
export function waitPid(pid: number): boolean {
  integer(pid, 1, 4_194_304, "pid");
  return done(nativeWaitpid(pid, null, noHang), "waitpid", `pid ${pid}`) > 0;
}
