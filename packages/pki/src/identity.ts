import { PkiError } from "./pki-error.ts";

/**
 * The holder of a certificate: a role, and the names that distinguish its holders. A certificate carries it as
 * a SPIFFE ID, the URI `spiffe://TRUST-DOMAIN/ROLE/NAME...`. Any role may be used; those of Virtkit have
 * functions.
 */
export interface Identity {
  readonly role: string;
  readonly names: readonly string[];
}

/** The expected peer: exactly this identity, or any holder of a role. */
export type Expectation = Identity | { readonly anyOf: string };

/** The side of a migration that a certificate is for. */
export type MigrationSide = "source" | "target";

/** The node agent of one node. */
export function nodeAgentIdentity(node: string): Identity {
  return { role: "node-agent", names: [node] };
}

/**
 * What the node agent of one node shows to programs in guests. No server of the platform takes it: a guest that passes
 * the handshake on to one gains nothing.
 */
export function vsockIdentity(node: string): Identity {
  return { role: "vsock", names: [node] };
}

/** The API server. */
export function apiServerIdentity(): Identity {
  return { role: "api-server", names: [] };
}

/** One side of one migration, and of no other. */
export function migrationIdentity(uid: string, side: MigrationSide): Identity {
  return { role: "migration", names: [uid, side] };
}

/** What SPIFFE allows, without the dots that have a meaning in a path. */
const segment = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,253}$/;
const domain = /^[a-z0-9._-]{1,255}$/;
/** The maximum length that SPIFFE asks readers to support. */
const maxUri = 2048;

/** An identity as the URI in certificates. Throws if a part is empty, too long or has other characters. */
export function identityUri(trustDomain: string, { role, names }: Identity): string {
  expect(domain.test(trustDomain), "trustDomain", trustDomain, "lower-case letters, digits, . _ -");
  for (const [index, name] of [role, ...names].entries()) {
    const path = index === 0 ? "role" : `names[${index - 1}]`;
    expect(segment.test(name), path, name, "letters, digits, . _ -");
  }
  const uri = `spiffe://${[trustDomain, role, ...names].join("/")}`;
  expect(uri.length <= maxUri, "names", uri, `at most ${maxUri} characters in total`);
  return uri;
}

/** The identity in such a URI; undefined for any other text. */
export function parseIdentityUri(
  uri: string,
): { readonly trustDomain: string; readonly identity: Identity } | undefined {
  if (uri.length > maxUri || !uri.startsWith("spiffe://")) return undefined;
  const [trustDomain = "", role, ...names] = uri.slice("spiffe://".length).split("/");
  if (role === undefined || !domain.test(trustDomain)) return undefined;
  if (![role, ...names].every((part) => segment.test(part))) return undefined;
  return { trustDomain, identity: { role, names } };
}

/** Whether an identity is the expected one: every part of it, or only the role if any holder will do. */
export function isExpected(identity: Identity, expected: Expectation): boolean {
  if ("anyOf" in expected) return identity.role === expected.anyOf;
  return (
    identity.role === expected.role &&
    identity.names.length === expected.names.length &&
    identity.names.every((name, index) => name === expected.names[index])
  );
}

/** For messages: `migration/UID/target`. */
export function describeIdentity(identity: Expectation): string {
  return "anyOf" in identity
    ? `any ${identity.anyOf}`
    : [identity.role, ...identity.names].join("/");
}

function expect(holds: boolean, path: string, found: string, wanted: string): void {
  if (holds) return;
  const shown = JSON.stringify(found.length > 80 ? `${found.slice(0, 80)}...` : found);
  throw new PkiError("PKI_INPUT_INVALID", `${path} is ${shown}; it must be ${wanted}`, { path });
}
