import { PkiError } from "./pki-error.ts";
import type { AuthorityTimes } from "./plan-rotation.ts";
import { parseCertificate } from "./read-certificate.ts";
import type { KeyPair } from "./sign-certificate.ts";

/** An authority: its certificate and key, and when it starts to sign. */
export interface AuthorityRecord extends KeyPair, AuthorityTimes {}

/** The content of a store. */
export interface AuthorityContent {
  readonly trustDomain: string;
  /** Oldest first. */
  readonly authorities: readonly AuthorityRecord[];
}

/** The stored form. */
export function writeAuthorities({ trustDomain, authorities }: AuthorityContent): string {
  const records = authorities.map(({ certificate, privateKey, signsFrom }) => ({
    signsFrom: signsFrom.toISOString(),
    certificate,
    privateKey,
  }));
  return `${JSON.stringify({ version: 1, trustDomain, authorities: records }, undefined, 2)}\n`;
}

/** Reads stored content. Throws a `PKI_STORE_INVALID` that does not repeat it, because it contains keys. */
export function readAuthorities(content: string): AuthorityContent {
  const { version, trustDomain, authorities } = parse(content);
  if (version !== 1) throw invalid("version", "must be 1; it was written by a newer Virtkit");
  if (typeof trustDomain !== "string") throw invalid("trustDomain", "must be a string");
  if (!Array.isArray(authorities)) throw invalid("authorities", "must be a list");
  return {
    trustDomain,
    authorities: authorities.map((record, index) => readRecord(record, `authorities[${index}]`)),
  };
}

function readRecord(value: unknown, path: string): AuthorityRecord {
  const { certificate, privateKey, signsFrom } = Object(value) as Record<string, unknown>;
  if (typeof certificate !== "string") throw invalid(`${path}.certificate`, "must be a string");
  if (typeof privateKey !== "string") throw invalid(`${path}.privateKey`, "must be a string");
  const time = new Date(String(signsFrom));
  if (Number.isNaN(time.getTime())) throw invalid(`${path}.signsFrom`, "must be a time");
  try {
    const expires = new Date(parseCertificate(certificate).validTo);
    return { certificate, privateKey, signsFrom: time, expires };
  } catch (cause) {
    throw invalid(`${path}.certificate`, "must be a PEM certificate", cause);
  }
}

function parse(content: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(content)) as Record<string, unknown>;
  } catch {
    // The parser's message repeats the text.
    throw invalid("content", "must be JSON");
  }
}

function invalid(path: string, what: string, cause?: unknown): PkiError {
  const message = `${path} in the store of authorities ${what}`;
  return new PkiError("PKI_STORE_INVALID", message, { path, cause });
}
