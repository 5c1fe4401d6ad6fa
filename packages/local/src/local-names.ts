import { join } from "node:path";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/**
 * Everything that a VMI of local mode has in the kernel and on disk, derived only from the UID of
 * its Pod: whoever knows the UID can remove everything, after a crash at any point.
 */
export interface LocalNames {
  /** Network namespace, as `ip netns` lists it. */
  readonly networkNamespace: string;
  /** The host's end of the Pod's veth. */
  readonly hostLink: string;
  /** nftables table of the host, in the family `inet`. */
  readonly nftTable: string;
  /** Cgroup below `virtkit` in every hierarchy. */
  readonly cgroup: string;
  /** The Pod's folder. */
  readonly directory: string;
  /** The equivalent of a container's standard output. */
  readonly log: string;
  readonly terminationMessage: string;
}

/** Below a state directory, the folder of Pods, laid out as a kubelet does. */
export function podsDirectory(stateDirectory: string): string {
  return join(stateDirectory, "pods");
}

/** @throws NodeAgentError if the UID is not a UUID: it becomes part of names and paths. */
export function localNames(stateDirectory: string, podUid: string): LocalNames {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(podUid)) {
    const found = JSON.stringify(podUid)?.slice(0, 80);
    throw new NodeAgentError("AGENT_ARGUMENT", `podUid: found ${found}, use a UUID`, {
      path: "podUid",
    });
  }
  // A link's name has at most 15 characters; with 11 hexadecimal digits a collision is unlikely enough.
  const short = podUid.replaceAll("-", "").slice(0, 11);
  const directory = join(podsDirectory(stateDirectory), podUid);
  return {
    networkNamespace: `virtkit-${short}`,
    hostLink: `vk${short}`,
    nftTable: `virtkit_${short}`,
    cgroup: podUid,
    directory,
    log: join(directory, "launcher.log"),
    terminationMessage: join(directory, "termination-log"),
  };
}
