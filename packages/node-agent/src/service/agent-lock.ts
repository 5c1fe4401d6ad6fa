import { join } from "node:path";
import { isHostError } from "@virtkit/host-primitives";
import { lockFile } from "@virtkit/host-primitives/durable";
import { hostRoot } from "../host-root.ts";
import { NodeAgentError } from "../node-agent-error.ts";

/** Names the lock of a node. */
interface NodeLock {
  readonly nodeName: string;
  /**
   * Where the lock of the node is. All agents that may work on the node must see the same directory, and a reboot
   * may empty it. Default: `/run/virtkit` of the node itself, not of the agent's Pod.
   */
  readonly runDirectory?: string | undefined;
}

/** The file that the agent of a node locks. */
export function nodeLockFile({ nodeName, runDirectory }: NodeLock): string {
  return join(runDirectory ?? join(hostRoot, "run/virtkit"), `agent-of-${nodeName}.lock`);
}

/** Options of {@link lockNode}. */
export interface NodeLockOptions extends NodeLock {
  readonly stateDirectory: string;
}

/**
 * Makes this process the only agent of a node, until it ends or releases it. The lock belongs to the node: a second agent
 * with another state directory does not have the decisions of the first one, and would decide again. Nodes with
 * different names may share a host. The state directory is locked as well: it belongs to one node.
 *
 * @throws NodeAgentError `AGENT_LOCKED` if another agent works on the node, or uses the state directory.
 */
export function lockNode({ nodeName, stateDirectory, runDirectory }: NodeLockOptions): Disposable {
  const node = lock(
    nodeLockFile({ nodeName, runDirectory }),
    `another node agent works on node ${nodeName}; stop it first: a node has one agent, whatever its state directory`,
  );
  try {
    const state = lock(
      join(stateDirectory, "agent.lock"),
      `another node agent uses ${stateDirectory}; stop it first if it works on node ${nodeName}, else give each node its own state directory`,
    );
    return {
      [Symbol.dispose]() {
        state[Symbol.dispose]();
        node[Symbol.dispose]();
      },
    };
  } catch (error) {
    node[Symbol.dispose]();
    throw error;
  }
}

function lock(path: string, message: string): Disposable {
  try {
    return lockFile(path);
  } catch (error) {
    if (!isHostError(error) || error.code !== "HOST_TIMEOUT") throw error;
    throw new NodeAgentError("AGENT_LOCKED", message, { path, cause: error });
  }
}
