import type { ServiceAccounts } from "@virtkit/api/admission";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import { describeIdentity, type Identity } from "@virtkit/pki";

/** The authenticated sender: the API server itself writes these fields of a request. */
export interface Requester {
  readonly username?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A migration and its VMI, as they are now; undefined if there is none. */
export interface MigrationFacts {
  readonly migration: unknown;
  readonly vmi: VirtualMachineInstance | undefined;
}

/** Why a request is denied: a word for programs, a sentence for people. */
export interface RequestRefusal {
  readonly reason: "WrongAccount" | "UnknownNode" | "WrongNode" | "WrongRole" | "WrongMigration";
  readonly message: string;
}

/** Where Kubernetes names the node of the Pod whose token was used. */
export const nodeNameExtra = "authentication.kubernetes.io/node-name";

/** Phases in which a migration no longer needs a certificate. */
const ended = ["Succeeded", "Failed"];

/**
 * Whether a sender may get an identity. Only node agents may ask, and only for their own node's identities: its agent's,
 * the one that guests see over VSOCK, or that of the source or target of a migration. The request itself proves nothing:
 * the sender is the one that the API server has authenticated, and the VMI says which nodes take part in a migration.
 */
export function judgeRequest(
  identity: Identity,
  requester: Requester,
  { accounts, migration }: { accounts: ServiceAccounts; migration?: MigrationFacts | undefined },
): RequestRefusal | undefined {
  const { username, extra = {} } = requester;
  if (!accounts.isHandler(username)) {
    const message = `${JSON.stringify(username)} is not the node agents' account; only node agents may request certificates`;
    return { reason: "WrongAccount", message };
  }
  const [node, ...others] = extra[nodeNameExtra] ?? [];
  if (node === undefined || node === "" || others.length > 0) {
    const message =
      "the requester's token names no node; use the token of a Pod that runs on the node";
    return { reason: "UnknownNode", message };
  }
  const wanted = describeIdentity(identity);
  if (identity.role === "node-agent" || identity.role === "vsock") {
    if (identity.names.length === 1 && identity.names[0] === node) return undefined;
    const message = `the requester is on node ${node}; it may not be ${wanted}`;
    return { reason: "WrongNode", message };
  }
  if (identity.role === "migration") return judgeMigration(identity, node, migration);
  const message = `a node agent may not be ${wanted}; it may be node-agent/NODE, vsock/NODE or migration/UID/SIDE`;
  return { reason: "WrongRole", message };
}

function judgeMigration(
  { names }: Identity,
  node: string,
  facts: MigrationFacts | undefined,
): RequestRefusal | undefined {
  const [uid = "", side = ""] = names;
  const refused = (message: string): RequestRefusal => ({ reason: "WrongMigration", message });
  if (names.length !== 2 || (side !== "source" && side !== "target")) {
    return refused("the identity must be migration/UID/source or migration/UID/target");
  }
  if (!facts?.migration || text(at(facts.migration, "metadata", "uid")) !== uid) {
    return refused(`the request's annotation names no migration with the UID ${uid}`);
  }
  const phase = text(at(facts.migration, "status", "phase"));
  if (ended.includes(phase)) return refused(`the migration has ended: ${phase}`);
  const state = facts.vmi?.status?.migrationState;
  if (text(state?.migrationUid) !== uid) {
    return refused(
      "the VMI's migration state belongs to another migration, so the nodes are not known",
    );
  }
  const expected = text(side === "source" ? state?.sourceNode : state?.targetNode);
  if (expected === node) return undefined;
  const message = `the requester is on node ${node}; the ${side} of the migration is ${expected || "not known"}`;
  return { reason: "WrongNode", message };
}
