import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../run-program.ts";

/** The traces of a cluster on the host, by kind, and the settings of the host's kernel. */
export interface HostState {
  readonly mounts: readonly string[];
  readonly links: readonly string[];
  readonly routes: readonly string[];
  readonly cgroups: readonly string[];
  readonly rules: readonly string[];
  readonly settings: readonly string[];
}

/** Settings that count, or that the kernel changes by itself. */
const volatile =
  /^(fs\.(dentry|file-nr|inode|aio-nr|quota)|kernel\.(random|ns_last_pid|pty\.nr|tainted|perf_event|sched_domain)|net\.netfilter\.nf_conntrack_(count|buckets)|net\.ipv[46]\.(conf|neigh|route)|vm\.(stat|numa))/;

/**
 * Reads the state of this host. Other programs use it at the same time, so of mounts, links, routes, cgroups and rules only
 * those that could belong to a cluster are read. Kernel settings are compared as they are, except for
 * those of single interfaces, which come and go with them.
 */
export async function hostState(): Promise<HostState> {
  const [routes, tables, settings] = await Promise.all([
    runProgram("ip", ["-o", "route", "show", "table", "all"]),
    runProgram("nft", ["list", "tables"]),
    runProgram("sh", ["-c", "sysctl -a 2>/dev/null"]),
  ]);
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return {
    mounts: mounts.filter((line) =>
      /clusters\/|kubelet|containerd|\/opt\/(node|kubernetes)/.test(line),
    ),
    links: readdirSync("/sys/class/net").filter((name) => /^vk\d/.test(name)),
    routes: routes.split("\n").filter((line) => /\bvk\d/.test(line)),
    cgroups: cgroups(),
    rules: tables.split("\n").filter((line) => /kube-proxy|virtkit_cut/.test(line)),
    settings: settings.split("\n").filter((line) => !volatile.test(line)),
  };
}

/** What the second state has in addition to the first. */
export function added(before: HostState, after: HostState): string[] {
  return Object.keys(after).flatMap((kind) => {
    const known = new Set(before[kind as keyof HostState]);
    return after[kind as keyof HostState].filter((each) => !known.has(each));
  });
}

function cgroups(): string[] {
  const top = "/sys/fs/cgroup";
  return [top, ...readdirSync(top).map((name) => join(top, name))].flatMap((directory) => {
    try {
      const names = readdirSync(directory).filter((name) => name.startsWith("virtkit-lab"));
      return names.map((name) => join(directory, name));
    } catch {
      // A file, not a hierarchy.
      return [];
    }
  });
}
