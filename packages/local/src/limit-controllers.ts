import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CgroupLayout, ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** A cgroup controller that the limits of a Pod need. */
export type LimitController = "cpu" | "memory" | "pids";

/** What is needed, and what brings it where the kernel has it off. */
const fixes: Readonly<Record<LimitController, string>> = {
  cpu: "use a kernel with CONFIG_CFS_BANDWIDTH, or mount the controller",
  memory: 'add "cgroup_enable=memory" to the kernel command line and reboot',
  pids: "use a kernel with CONFIG_CGROUP_PIDS, or mount the controller",
};

/** The version of the hierarchy that has each controller of this host; absent if none has it. */
export type ControllerVersions = Readonly<Partial<Record<LimitController, 1 | 2>>>;

/** Looks for the controllers. Version 1 is used for those that it has, version 2 for the rest. */
export function limitControllers(layout: CgroupLayout = ownCgroupLayout()): ControllerVersions {
  const unified = unifiedControllers(layout);
  const version = (name: LimitController): 1 | 2 | undefined => {
    if (layout.controllers[name] !== undefined) return 1;
    return unified.includes(name) ? 2 : undefined;
  };
  const found = (Object.keys(fixes) as LimitController[]).map((name) => [name, version(name)]);
  return Object.fromEntries(found.filter(([, which]) => which !== undefined)) as ControllerVersions;
}

function unifiedControllers({ unified }: CgroupLayout): readonly string[] {
  if (unified === undefined) return [];
  return readFileSync(join(unified, "cgroup.controllers"), "utf8").trim().split(" ");
}

/** The controllers that a host lacks, each with what to do. Pure. */
export function missingControllers(
  found: ControllerVersions,
): readonly { readonly name: LimitController; readonly fix: string }[] {
  return (Object.keys(fixes) as LimitController[])
    .filter((name) => found[name] === undefined)
    .map((name) => ({ name, fix: fixes[name] }));
}

/** @throws NodeAgentError if limits of a Pod would not work, before anything is created. */
export function requireLimitControllers(found: ControllerVersions = limitControllers()): void {
  const [missing] = missingControllers(found);
  if (!missing) return;
  const message = `this host has no cgroup controller "${missing.name}", so a Pod's limits could not be enforced; ${missing.fix}`;
  throw new NodeAgentError("AGENT_SANDBOX", message, { path: missing.name });
}
