import type { ObjectName } from "@virtkit/kube";
import type { Credentials, MigrationSide } from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";

/** One side of one migration. */
export interface SideOfMigration {
  readonly migrationUID: string;
  readonly side: MigrationSide;
  /** The VirtualMachineInstanceMigration. */
  readonly migration: ObjectName;
}

/** What a node needs to let guests come and go. */
export interface MigrationService {
  /** A certificate for one side of one migration. */
  credentials(
    side: SideOfMigration,
    options: { readonly signal: AbortSignal },
  ): Promise<Credentials>;
  /** The numeric address at which the agents of other nodes reach this one, as it is now. */
  address(): string;
}

/** Throws where the node was given nothing to migrate with. */
export function requireService(service: MigrationService | undefined): MigrationService {
  if (service) return service;
  const message =
    "this node agent was given no certificates for migrations; give createNodeAgent `migrations`";
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "migrations" });
}
