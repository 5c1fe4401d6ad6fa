import { migrationOptionsFor } from "@virtkit/migration/source/agent";
import { hostRoot } from "../host-root.ts";
import { isNodeAgentError, NodeAgentError } from "../node-agent-error.ts";
import { postCopySupport, userfaultfdFacts } from "../node-setup/post-copy-support.ts";
import type { MigrationScene } from "./migration-scene.ts";
import type { MigrationService } from "./migration-service.ts";

/**
 * Throws `AGENT_POST_COPY` if a migration may switch to post-copy, and this node's kernel does not let QEMU fetch memory. QEMU
 * would refuse the guest only once everything is prepared, and say neither on which node nor what to do.
 */
export function requirePostCopy(
  { vmi, nodeName, config }: Pick<MigrationScene, "vmi" | "nodeName" | "config">,
  { postCopy = askKernel }: Pick<MigrationService, "postCopy">,
): void {
  if (!migrationOptionsFor(vmi, config()).allowPostCopy) return;
  const { supported, reason } = postCopy();
  if (supported) return;
  const message = `node ${nodeName} cannot receive a guest that may switch to post-copy: ${reason}`;
  throw new NodeAgentError("AGENT_POST_COPY", message, { path: "allowPostCopy" });
}

/** Whether a target is refused because of post-copy. */
export function lacksPostCopy(error: unknown): boolean {
  return isNodeAgentError(error) && error.code === "AGENT_POST_COPY";
}

function askKernel(): ReturnType<NonNullable<MigrationService["postCopy"]>> {
  return postCopySupport(userfaultfdFacts(hostRoot));
}
