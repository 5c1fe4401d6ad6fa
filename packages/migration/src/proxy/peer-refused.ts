import { MigrationError } from "../migration-error.ts";

/** An error about the proxy at the other end. */
export function peerRefused(path: string, what: string, cause?: unknown): MigrationError {
  return new MigrationError("MIGRATION_PEER_REFUSED", `the peer ${what}`, { path, cause });
}
