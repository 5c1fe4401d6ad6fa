import type { ObjectName } from "@virtkit/kube";
import type { Credentials, MigrationSide } from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";
import type { PostCopySupport } from "../node-setup/post-copy-support.ts";

/** One side of one migration. */
export interface SideOfMigration {
  readonly migrationUID: string;
  readonly side: MigrationSide;
  /** The VirtualMachineInstanceMigration. */
  readonly migration: ObjectName;
}

/** What a node needs to let guests arrive and leave. */
export interface MigrationService {
  /** A certificate for one side of one migration. */
  credentials(
    side: SideOfMigration,
    options: { readonly signal: AbortSignal },
  ): Promise<Credentials>;
  /** The numeric address at which the agents of other nodes currently reach this one. */
  address(): string;
  /** Whether guests can arrive on this node by post-copy. Default: what its kernel says. */
  postCopy?(): PostCopySupport;
}

/** Throws if the node has no means to migrate. */
export function requireService(service: MigrationService | undefined): MigrationService {
  if (service) return service;
  const message =
    "this node agent has no certificates for migrations; pass `migrations` to createNodeAgent";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "migrations" });
}
