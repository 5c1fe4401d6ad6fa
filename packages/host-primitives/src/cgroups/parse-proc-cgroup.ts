import { HostError } from "../host-error.ts";

/** One hierarchy that a process is in: a line of `/proc/<pid>/cgroup`. */
export interface CgroupMembership {
  /** 0 is the v2 hierarchy. */
  readonly hierarchy: number;
  /** v1 controllers, or `name=systemd`; empty for v2. */
  readonly controllers: readonly string[];
  /** Path from the hierarchy's root, as the reader's cgroup namespace shows it; may begin with `/..`. */
  readonly path: string;
}

/** Parses `/proc/<pid>/cgroup`. The path may contain colons. */
export function parseProcCgroup(text: string): CgroupMembership[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const match = /^(\d+):([^:]*):(.*)$/.exec(line);
      if (!match) {
        const message = `this is not a line of a cgroup file: ${JSON.stringify(line.slice(0, 200))}`;
        throw new HostError("HOST_FORMAT_INVALID", message, { path: "cgroup" });
      }
      const [, hierarchy, controllers = "", path = ""] = match;
      return {
        hierarchy: Number(hierarchy),
        controllers: controllers === "" ? [] : controllers.split(","),
        path,
      };
    });
}
