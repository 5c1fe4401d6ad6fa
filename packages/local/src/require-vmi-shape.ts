import { checkObject, formatPath } from "@virtkit/api/schema";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/**
 * Throws `AGENT_VMI_INVALID` with the first field of the wrong type, and how many more there are. `group` is the root of the
 * API groups; by default KubeVirt's.
 */
export function requireVmiShape(vmi: unknown, options: { readonly group?: string } = {}): void {
  const [issue, ...others] = checkObject(vmi, options).issues;
  if (!issue) return;
  const path = formatPath(issue.path);
  const message = issue.message.startsWith(path) ? issue.message : `${path}: ${issue.message}`;
  throw new NodeAgentError("AGENT_VMI_INVALID", `${message}${andMore(others.length)}`, { path });
}

/** For a message that has only the first fault. */
export function andMore(faults: number): string {
  return faults > 0 ? ` (and ${faults} more: virtkit validate -f FILE)` : "";
}
