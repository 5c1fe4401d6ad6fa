import type { PodMount } from "./pod-volumes.ts";

/** What {@link sandboxScript} builds. Paths are of the host by default. */
export interface SandboxPlan {
  /** An empty directory on which the new root is built. */
  readonly root: string;
  readonly hostname: string;
  /** A folder with files that replace the host's in `/etc`. */
  readonly etc: string;
  /** Directories that the sandbox sees, read-only, at the same path: the launcher's code and Node. */
  readonly kept: readonly string[];
  /** Device nodes below `/dev`, beside those that every container has. */
  readonly devices: readonly DeviceNode[];
  readonly mounts: readonly PodMount[];
  /** A file that becomes `/dev/termination-log`. */
  readonly terminationMessage: string;
  readonly uid: number;
  /** Capabilities that the program keeps, such as `net_bind_service`. */
  readonly capabilities: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** A character device of the sandbox. */
export interface DeviceNode {
  /** Below `/dev`. */
  readonly name: string;
  readonly major: number;
  readonly minor: number;
}

/** Parts of the host's root that the sandbox shares, read-only, if the host has them. */
const systemFolders = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix"];

const commonDevices: readonly DeviceNode[] = [
  { name: "null", major: 1, minor: 3 },
  { name: "zero", major: 1, minor: 5 },
  { name: "full", major: 1, minor: 7 },
  { name: "random", major: 1, minor: 8 },
  { name: "urandom", major: 1, minor: 9 },
  { name: "tty", major: 5, minor: 0 },
];

/**
 * The shell script that turns new mount, UTS, IPC and PID namespaces into a container and ends by
 * executing its program. Pure. The root is a new one: it contains the host's programs and
 * libraries, read-only, and its `/etc` with some files replaced; homes, state and sockets of the
 * host are not hidden but absent.
 */
export function sandboxScript(plan: SandboxPlan): string {
  return [
    "set -eu",
    `mount -t tmpfs -o mode=755,size=64m virtkit ${quote(plan.root)}`,
    `cd ${quote(plan.root)}`,
    "umask 022",
    "mkdir -p proc sys dev run tmp etc .host-etc root var/lib var/cache var/log",
    "chmod 1777 tmp; mkdir -m 1777 var/tmp; ln -s /run var/run",
    ...systemLines,
    ...etcLines(plan),
    "mount -t proc -o nosuid,nodev,noexec proc proc",
    // The host's own would show the host's interfaces.
    "mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys",
    "mount --rbind /sys/fs/cgroup sys/fs/cgroup",
    ...deviceLines(plan),
    ...plan.kept.flatMap((path) =>
      bind({ source: path, target: path, readOnly: true, kind: "directory" }),
    ),
    ...plan.mounts.flatMap(bind),
    `hostname ${quote(plan.hostname)}`,
    "mkdir .old",
    "pivot_root . .old",
    "cd /",
    "umount -l /.old",
    "rmdir /.old",
    `exec ${program(plan).map(quote).join(" ")}`,
  ].join("\n");
}

const systemLines = [
  `for d in ${systemFolders.join(" ")}; do`,
  '  if [ -L "/$d" ]; then cp -P "/$d" "$d"',
  '  elif [ -d "/$d" ]; then mkdir "$d"; mount --rbind "/$d" "$d"; mount -o remount,bind,ro "$d"; fi',
  "done",
];

/** Links to the host's files, so that some can be others: binding each would be hundreds of mounts. */
function etcLines({ etc }: SandboxPlan): string[] {
  return [
    "mount --bind /etc .host-etc",
    "mount -o remount,bind,ro .host-etc",
    "ln -s /.host-etc/* etc/",
    `for f in ${quote(etc)}/*; do rm -f "etc/\${f##*/}"; cp "$f" etc/; done`,
  ];
}

function deviceLines({ devices, terminationMessage }: SandboxPlan): string[] {
  return [
    "mount -t tmpfs -o mode=755,nosuid,size=1m dev dev",
    "mkdir dev/net dev/pts dev/shm",
    "mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts",
    "mount -t tmpfs -o mode=1777,nosuid,nodev shm dev/shm",
    "ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd",
    "ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr",
    ...[...commonDevices, ...devices].map(
      ({ name, major, minor }) => `mknod -m 666 ${quote(`dev/${name}`)} c ${major} ${minor}`,
    ),
    "touch dev/termination-log",
    `mount --bind ${quote(terminationMessage)} dev/termination-log`,
  ];
}

/** A link of the new root that leads up would lead into the host's, so targets are given without any. */
function bind({ source, target, readOnly, kind }: PodMount): string[] {
  const place = `.${target.replace(/^\/var\/run(?=\/|$)/, "/run")}`;
  const parent = place.slice(0, place.lastIndexOf("/"));
  const at = quote(place);
  const make =
    kind === "directory"
      ? `mkdir -p ${at}`
      : `mkdir -p ${quote(parent)}; touch ${at} 2>/dev/null || :`;
  return [
    make,
    `mount --rbind ${quote(source)} ${at}`,
    ...(readOnly ? [`mount -o remount,bind,ro ${at}`] : []),
  ];
}

function program({ uid, capabilities, env, command }: SandboxPlan): string[] {
  const kept = ["-all", ...capabilities.map((name) => `+${name}`)].join(",");
  return [
    "setpriv",
    `--reuid=${uid}`,
    `--regid=${uid}`,
    "--clear-groups",
    `--bounding-set=${kept}`,
    `--inh-caps=${kept}`,
    `--ambient-caps=${kept}`,
    "--no-new-privs",
    "--",
    "env",
    "-i",
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...command,
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
