import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Cgroup } from "../cgroups/cgroup.ts";
import { done, foreign } from "../ffi/foreign.ts";
import { syscallNumber } from "../ffi/syscall-numbers.ts";
import type { Namespace, NamespaceKind } from "../namespaces/namespace.ts";
import { OwnedFd } from "../owned-fd.ts";
import { duplicate } from "../safe-path/file-calls.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import { type ChildSpec, planChild } from "./plan-child.ts";

/** A child with its namespaces, cgroups and root as opened objects. */
export interface ChildOptions extends Omit<ChildSpec, "join" | "cgroups" | "root"> {
  readonly join?: readonly Namespace[];
  readonly cgroups?: readonly Cgroup[];
  readonly root?: SafePath;
  /** Descriptors of the child, from 0; it inherits nothing else. Default: none. */
  readonly stdio?: SpawnOptions["stdio"];
  /** Default: PATH only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the child with SIGKILL. */
  readonly signal?: AbortSignal;
}

// Needed: descriptors that this process itself inherited without close-on-exec would reach the
// child.
// Safe: integers only. CLOSE_RANGE_CLOEXEC (4) closes nothing; it marks all from 3 on, so that the
// child gets only what Node passes on purpose and duplicates there.
const nativeCloseRange = foreign("long", "syscall", ["long", "uint", "uint", "uint"]);

function closeAllOnExec(): void {
  const number = syscallNumber("closeRange");
  done(nativeCloseRange(number, 3, 0xffff_ffff, 4), "close_range", "descriptors of this process");
}

/**
 * Starts a program after setting its user, capabilities, limits, namespaces, cgroups, OOM score and
 * root. Returns a plain `ChildProcess`. If a step fails, the child exits with code 125 to 127 or 1
 * and prints the step's message to standard error. Descriptors of the given objects are duplicated
 * and kept until the child ends, because the steps reach them through this process.
 *
 * @example
 * startChild({ command: "virtlogd", uid: 107, gid: 107, capabilities: [], limits: { core: 0 } });
 */
export function startChild(options: ChildOptions): ChildProcess {
  const { join = [], cgroups = [], root, stdio = "ignore", env, signal, ...spec } = options;
  const held: OwnedFd[] = [];
  const hold = (fd: number, what: string): string => {
    const handle = new OwnedFd(fd, what);
    held.push(handle);
    return `/proc/${process.pid}/fd/${handle.fd}`;
  };
  const close = (): void => {
    for (const handle of held) handle.close();
  };
  try {
    const joined: Partial<Record<NamespaceKind, string>> = {};
    for (const { kind, fd, description } of join) {
      joined[kind] = hold(duplicate(fd, description), description);
    }
    const plan = planChild({
      ...spec,
      join: joined,
      cgroups: cgroups.map((cgroup) => hold(cgroup.openProcs().release(), cgroup.description)),
      ...(root && { root: hold(duplicate(root.fd, root.description), root.description) }),
    });
    closeAllOnExec();
    const child = spawn(plan.command, plan.args, {
      stdio,
      env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", ...env },
      ...(signal && { signal, killSignal: "SIGKILL" }),
    });
    child.once("exit", close);
    child.once("error", close);
    return child;
  } catch (error) {
    close();
    throw error;
  }
}
