import type { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { ClusterConfig } from "@virtkit/api/config";
import { describeError, type Observers } from "@virtkit/api/observe";
import { hostRoot } from "../host-root.ts";
import { migrationNetworkProblem } from "../migration/migration-address.ts";
import { labelDevices } from "./label-devices.ts";
import {
  allowUserfaultfd,
  type PostCopySupport,
  postCopySupport,
  userfaultfdFacts,
} from "./post-copy-support.ts";
import { installSeccompProfile } from "./seccomp-profile.ts";

/** What {@link prepareNode} works with. */
export interface PrepareNodeOptions extends Observers {
  readonly config: ClusterConfig;
  /**
   * The node's root, as this process sees it. Default: that of the node's first process; but the seccomp profile is
   * written below `/`, where the Pod mounts the kubelet's directory.
   */
  readonly root?: string;
  /** Lets all processes of the node use userfaultfd if post-copy is allowed and needs it. Default false. */
  readonly allowUserfaultfd?: boolean;
  /** Labels the device nodes below a root. Default {@link labelDevices}. */
  readonly label?: (root: string) => readonly string[];
  /** The network interfaces of the agent's Pod. Default: those of this process. */
  readonly interfaces?: ReturnType<typeof networkInterfaces>;
}

/** What was found and done. */
export interface NodePreparation {
  /** Absent if the configuration does not ask for its own profile, or it could not be written. */
  readonly seccompProfile?: "written" | "unchanged";
  readonly postCopy: PostCopySupport;
  /** Device nodes that were labelled for SELinux. */
  readonly labelled: readonly string[];
}

/**
 * Makes a node ready for launchers, at the start and whenever the configuration changes: the seccomp profile that
 * Pods name, labels of shared devices if SELinux is on, and what post-copy needs. Warns if guests do not use the migration
 * network that the configuration names. Never throws: failures are logged.
 */
export function prepareNode({
  config,
  root: given,
  allowUserfaultfd: allow = false,
  label = labelDevices,
  interfaces,
  log,
}: PrepareNodeOptions): NodePreparation {
  const attempt = <T>(what: string, run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      log?.error({ error: describeError(error) }, `${what} failed`);
      return undefined;
    }
  };
  const root = given ?? hostRoot;
  const kubelet = join(given ?? "/", config.names.directories.kubelet);
  const profile = config.gate("KubevirtSeccompProfile")
    ? attempt("writing the seccomp profile", () => installSeccompProfile(kubelet))
    : undefined;
  const wanted = config.migrations.allowPostCopy === true;
  if (wanted && allow && !postCopySupport(userfaultfdFacts(root)).supported) {
    attempt("allowing userfaultfd", () => allowUserfaultfd(root));
  }
  const postCopy = postCopySupport(userfaultfdFacts(root));
  if (wanted && !postCopy.supported) log?.warn({ reason: postCopy.reason }, "no post-copy here");
  const problem = migrationNetworkProblem(config.migrations.network, interfaces);
  if (problem) log?.warn({}, problem);
  const labelled = attempt("labelling devices", () => label(root)) ?? [];
  return { ...(profile ? { seccompProfile: profile } : {}), postCopy, labelled };
}
