import { NodeAgentError } from "@virtkit/node-agent/errors";

/** @throws NodeAgentError where this process is not root's. */
export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  const message =
    "a VMI is started by root; run it again with sudo -E; virtkit doctor tells what else";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "uid" });
}
