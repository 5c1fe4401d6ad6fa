import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** What a cluster may leave on this host: mounts, links, rules, cgroups and files. */
export function clusterLeftovers() {
  const { HOME = "/root", XDG_CACHE_HOME = path.join(HOME, ".cache") } = process.env;
  const clusters = path.join(XDG_CACHE_HOME, "virtkit/clusters");
  const cgroups = readdirSync("/sys/fs/cgroup").flatMap((name) => {
    try {
      return readdirSync(`/sys/fs/cgroup/${name}`).filter((each) => each.startsWith("virtkit-lab"));
    } catch {
      // A file, not a hierarchy.
      return [];
    }
  });
  return [
    ...(existsSync(clusters) ? readdirSync(clusters) : []).map((name) => `directory ${name}`),
    // Those of local guests are named after a hash.
    ...readdirSync("/sys/class/net").filter((name) => /^vk\d+-\d/.test(name)),
    ...cgroups.map((name) => `cgroup ${name}`),
    ...readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .filter((line) => line.includes(clusters)),
  ];
}
