import { NodeAgentError } from "@virtkit/node-agent/errors";

/** @throws NodeAgentError if this process is not root's. */
export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  const message =
    "only root can start a VMI; run it again with sudo -E; virtkit doctor lists what else is missing";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "uid" });
}
