import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import type { NamespaceKind } from "../namespaces/namespace.ts";
import type { LimitName } from "../process/process-limits.ts";
import { parseSelinuxContext } from "../selinux/selinux-context.ts";

/** A limit in the form of `prlimit`: one value for both, or soft and hard. */
export type ChildLimit =
  | number
  | "unlimited"
  | { readonly soft: number | "unlimited"; readonly hard: number | "unlimited" };

/** The state of a child before its program runs. Descriptors are given as paths below `/proc`. */
export interface ChildSpec {
  /** Absolute path, or a name to look up in PATH, as seen by the child. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
  /** Supplementary groups. Default: none if `uid` or `gid` is set, otherwise inherited. */
  readonly groups?: readonly number[];
  /**
   * Capabilities to keep, in lower case and without `cap_`. All others are dropped from every set,
   * including the bounding set. Default: unchanged for root; a change of `uid` clears them anyway.
   */
  readonly capabilities?: readonly string[];
  /**
   * Whether set-uid programs and file capabilities lose their effect from here on. Default true.
   */
  readonly noNewPrivileges?: boolean;
  /** SELinux context of the program; only if SELinux is enabled. */
  readonly selinuxContext?: string;
  readonly limits?: Readonly<Partial<Record<LimitName, ChildLimit>>>;
  /** From -1000 to 1000; lowering it needs `CAP_SYS_RESOURCE`. */
  readonly oomScoreAdjust?: number;
  /** Namespaces to join, with their paths. */
  readonly join?: Readonly<Partial<Record<NamespaceKind, string>>>;
  /** Namespaces to create. In a new pid namespace the program is the first process. */
  readonly create?: readonly Exclude<NamespaceKind, "user" | "time">[];
  /** Path of a directory that becomes the root. */
  readonly root?: string;
  /** Paths of `cgroup.procs` files of the cgroups to join. */
  readonly cgroups?: readonly string[];
}

/** A command line that sets up the child step by step and ends in its program. */
export interface ChildPlan {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Joins each cgroup up to `--` by writing 0, which means the writer, and then executes the rest.
 */
const joinCgroups =
  'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';

/**
 * The chain of small util-linux and coreutils programs that sets up a child: each sets one thing
 * and executes the next. Pure. The child inherits only what the caller passes: namespaces, cgroups
 * and the root are named by paths of the caller's own descriptors.
 *
 * Steps that need privileges come first. A new root or another mount namespace comes last, because
 * the next program is looked up in it. That last step then also switches the user, and capabilities
 * cannot be kept across it.
 */
export function planChild(spec: ChildSpec): ChildPlan {
  check(spec);
  const elsewhere = spec.root !== undefined || spec.join?.mount !== undefined;
  const steps = [
    ...cgroupStep(spec),
    ...oomStep(spec),
    ...limitStep(spec),
    ...joinStep(spec),
    ...createStep(spec),
    ...privilegeStep(spec, elsewhere),
    ...(elsewhere ? elsewhereStep(spec) : []),
    spec.command,
    ...(spec.args ?? []),
  ];
  const [command = spec.command, ...args] = steps;
  return { command, args };
}

function cgroupStep({ cgroups = [] }: ChildSpec): string[] {
  return cgroups.length === 0 ? [] : ["sh", "-c", joinCgroups, "sh", ...cgroups, "--"];
}

function oomStep({ oomScoreAdjust }: ChildSpec): string[] {
  return oomScoreAdjust === undefined ? [] : ["choom", "-n", String(oomScoreAdjust), "--"];
}

function limitStep({ limits = {} }: ChildSpec): string[] {
  const options = Object.entries(limits).map(([name, limit]) => {
    const { soft, hard } = typeof limit === "object" ? limit : { soft: limit, hard: limit };
    return `--${name}=${soft}:${hard}`;
  });
  return options.length === 0 ? [] : ["prlimit", ...options, "--"];
}

const joinOptions: Readonly<Partial<Record<NamespaceKind, string>>> = {
  network: "--net",
  uts: "--uts",
  ipc: "--ipc",
  cgroup: "--cgroup",
  pid: "--pid",
  user: "--user",
  time: "--time",
};

function joinStep({ join = {} }: ChildSpec): string[] {
  const options = Object.entries(joinOptions).flatMap(([kind, option]) => {
    const path = join[kind as NamespaceKind];
    return path === undefined ? [] : [`${option}=${path}`];
  });
  return options.length === 0 ? [] : ["nsenter", ...options, "--"];
}

const createOptions = {
  network: ["--net"],
  mount: ["--mount", "--propagation=private"],
  uts: ["--uts"],
  ipc: ["--ipc"],
  cgroup: ["--cgroup"],
  pid: ["--pid", "--fork", "--kill-child"],
} as const;

function createStep({ create = [] }: ChildSpec): string[] {
  const options = [...new Set(create)].flatMap((kind) => createOptions[kind]);
  return options.length === 0 ? [] : ["unshare", ...options, "--"];
}

/**
 * What the last step itself needs. The switch of user clears it, for good without new privileges.
 */
const elsewhereCapabilities = ["setuid", "setgid", "sys_chroot", "sys_admin", "sys_ptrace"];

function privilegeStep(spec: ChildSpec, elsewhere: boolean): string[] {
  const options: string[] = [];
  if (!elsewhere) options.push(...userOptions(spec));
  if (spec.capabilities) {
    const kept = list(spec.capabilities);
    options.push(`--inh-caps=${elsewhere ? "-all" : kept}`);
    if (!elsewhere) options.push(`--ambient-caps=${kept}`);
    const needed = elsewhere ? elsewhereCapabilities : [];
    options.push(`--bounding-set=${list([...spec.capabilities, ...needed])}`);
  }
  if (spec.selinuxContext !== undefined) options.push(`--selinux-label=${spec.selinuxContext}`);
  if (spec.noNewPrivileges ?? true) options.push("--no-new-privs");
  return options.length === 0 ? [] : ["setpriv", ...options, "--"];
}

function userOptions({ uid, gid, groups }: ChildSpec): string[] {
  const options: string[] = [];
  if (uid !== undefined) options.push(`--reuid=${uid}`);
  if (gid !== undefined) options.push(`--regid=${gid}`);
  if (groups && groups.length > 0) options.push(`--groups=${groups.join(",")}`);
  else if (groups || uid !== undefined || gid !== undefined) options.push("--clear-groups");
  return options;
}

function list(capabilities: readonly string[]): string {
  return ["-all", ...[...new Set(capabilities)].map((name) => `+${name}`)].join(",");
}

function elsewhereStep({ uid, gid, root, join = {} }: ChildSpec): string[] {
  const options = [
    ...(join.mount === undefined ? [] : [`--mount=${join.mount}`]),
    // Without --wd the child would keep the old working directory, which is outside the new root.
    ...(root === undefined ? [] : [`--root=${root}`, `--wd=${root}`]),
    ...(gid === undefined ? [] : [`--setgid=${gid}`]),
    ...(uid === undefined ? [] : [`--setuid=${uid}`]),
  ];
  return ["nsenter", ...options, "--"];
}

function check(spec: ChildSpec): void {
  if (spec.command === "" || spec.command.startsWith("-"))
    refuse("command", "use a path or a name");
  const ids = [spec.uid, spec.gid, ...(spec.groups ?? [])];
  for (const id of ids) if (id !== undefined) integer(id, 0, 0xffff_fffe, "uid, gid or groups");
  if (spec.oomScoreAdjust !== undefined)
    integer(spec.oomScoreAdjust, -1000, 1000, "oomScoreAdjust");
  for (const name of spec.capabilities ?? []) {
    if (!/^[a-z_]+$/.test(name))
      refuse("capabilities", `${name} is not a capability name such as net_admin`);
  }
  if (spec.selinuxContext !== undefined) parseSelinuxContext(spec.selinuxContext);
  checkLimits(spec.limits ?? {});
  checkElsewhere(spec);
}

function checkLimits(limits: NonNullable<ChildSpec["limits"]>): void {
  for (const [name, limit] of Object.entries(limits)) {
    const values = typeof limit === "object" ? [limit.soft, limit.hard] : [limit];
    for (const value of values) {
      if (value !== "unlimited") integer(value, 0, Number.MAX_SAFE_INTEGER, `limits.${name}`);
    }
  }
}

function checkElsewhere(spec: ChildSpec): void {
  const { root, join, uid, groups, capabilities, noNewPrivileges, selinuxContext } = spec;
  if (root === undefined && join?.mount === undefined) return;
  if (capabilities && capabilities.length > 0) {
    refuse("capabilities", "none can be kept in a new root; use an empty list or omit it");
  }
  if (capabilities && (uid ?? 0) === 0) {
    refuse("capabilities", "root keeps its own in a new root; use another user or omit it");
  }
  if (selinuxContext !== undefined) {
    refuse("selinuxContext", "would be consumed by the step that changes the root");
  }
  if (groups && groups.length > 0) refuse("groups", "cannot be set in a new root");
  if (noNewPrivileges === false && capabilities) {
    refuse("noNewPrivileges", "must stay on if capabilities are dropped in a new root");
  }
}

function refuse(path: string, problem: string): never {
  throw new HostError("HOST_ARGUMENT_INVALID", `${path}: ${problem}`, { path });
}
