import type { Io } from "./io.ts";

/** What the module of a command exports. */
export interface CommandModule {
  /** Text of `virtkit COMMAND --help`. */
  readonly help: string;
  /** Runs the command; the number is the exit code: 0 done, 1 the answer is no, 2 wrong usage. */
  run(args: readonly string[], io: Io): Promise<number>;
}

/** One entry of the command table: a line for `--help`, and the code behind it, loaded on use. */
export interface Command {
  readonly summary: string;
  load(): Promise<CommandModule>;
}

/** Every command of `virtkit`, in the order in which `--help` lists them. */
export const commands: Readonly<Record<string, Command>> = {
  run: {
    summary: "run a VirtualMachineInstance on this host, without Kubernetes",
    load: () => import("./commands/run.ts"),
  },
  ps: {
    summary: "list the VMIs of this host",
    load: () => import("./commands/ps.ts"),
  },
  console: {
    summary: "connect to a VMI's serial console; Ctrl-] disconnects",
    load: () => import("./commands/console.ts"),
  },
  migrate: {
    summary: "move a running guest into a new sandbox, or to another node of a cluster",
    load: () => import("./commands/migrate.ts"),
  },
  stop: {
    summary: "shut a VMI down",
    load: () => import("./commands/stop.ts"),
  },
  rm: {
    summary: "remove a VMI and everything that belongs to it",
    load: () => import("./commands/rm.ts"),
  },
  doctor: {
    summary:
      "check whether this host can run VMIs, and show what to fix; --clean removes leftovers",
    load: () => import("./commands/doctor.ts"),
  },
  why: {
    summary: "show which handoff of a VM's start has not happened, and why",
    load: () => import("./commands/why.ts"),
  },
  fence: {
    summary: "confirm that a node of a cluster is off, so that its guests start elsewhere",
    load: () => import("./commands/fence.ts"),
  },
  batch: {
    summary:
      "call functions that have recorded answers, one JSON request per line; only in a clone",
    load: () => import("./commands/batch.ts"),
  },
  default: {
    summary: "print objects with KubeVirt's defaults filled in",
    load: () => import("./commands/default.ts"),
  },
  validate: {
    summary: "check KubeVirt objects in manifests, and print the line and column of each fault",
    load: () => import("./commands/validate.ts"),
  },
  convert: {
    summary: "print the libvirt domain that a VirtualMachineInstance becomes",
    load: () => import("./commands/convert.ts"),
  },
  diff: {
    summary: "print what must change to turn one guest into another, and what can be done live",
    load: () => import("./commands/diff.ts"),
  },
  explain: {
    summary: "print the domain and where each part of it comes from, or what a field changes",
    load: () => import("./commands/explain.ts"),
  },
  pod: {
    summary: "print the launcher Pod of each VMI, or explain every part of it",
    load: () => import("./commands/pod.ts"),
  },
  crds: {
    summary: "print the CustomResourceDefinitions",
    load: () => import("./commands/crds.ts"),
  },
  network: {
    summary: "print how a guest is connected to its Pod's network, step by step",
    load: () => import("./commands/network.ts"),
  },
  libvirt: {
    summary: "list domains of a libvirtd, print XML and statistics, follow events",
    load: () => import("./commands/libvirt.ts"),
  },
};
