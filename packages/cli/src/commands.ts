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
  batch: {
    summary: "answer JSON lines on stdin: any pure function of the packages by name",
    load: () => import("./commands/batch.ts"),
  },
  validate: {
    summary: "check the KubeVirt objects in manifests, with line and column of each fault",
    load: () => import("./commands/validate.ts"),
  },
  crds: {
    summary: "print the CustomResourceDefinitions, to be applied to a cluster",
    load: () => import("./commands/crds.ts"),
  },
  network: {
    summary: "print how a Pod's network would become the guest's, step by step",
    load: () => import("./commands/network.ts"),
  },
};
