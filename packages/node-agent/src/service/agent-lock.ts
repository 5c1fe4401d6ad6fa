import { join } from "node:path";
import { isHostError } from "@virtkit/host-primitives";
import { lockFile } from "@virtkit/host-primitives/durable";
import { NodeAgentError } from "../node-agent-error.ts";

/**
 * Makes this process the only agent that uses a state directory, until it ends or releases it.
 *
 * @throws NodeAgentError `AGENT_LOCKED` if another agent uses it.
 */
export function lockState(stateDirectory: string): Disposable {
  const path = join(stateDirectory, "agent.lock");
  try {
    return lockFile(path);
  } catch (error) {
    if (!isHostError(error) || error.code !== "HOST_TIMEOUT") throw error;
    const message = `another node agent uses ${stateDirectory}; stop it first, or use a separate directory`;
    throw new NodeAgentError("AGENT_LOCKED", message, { path, cause: error });
  }
}
