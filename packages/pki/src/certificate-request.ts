import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { der, derObjectId, derTags } from "./der.ts";
import { type Identity, identityUri, parseIdentityUri } from "./identity.ts";
import { loadX509 } from "./load-x509.ts";
import { PkiError } from "./pki-error.ts";

/** A key, and the request for its certificate; as PEM. */
export interface CertificateRequest {
  readonly request: string;
  /** Stays where it was created. */
  readonly privateKey: string;
}

/** The content of a request. It proves that its sender has the key, but not its identity. */
export interface RequestFacts {
  readonly trustDomain: string;
  readonly identity: Identity;
  /** As PEM. */
  readonly publicKey: string;
}

/** No request of this package is a tenth as large. */
const maxLength = 16_384;

const oid = {
  organization: "2.5.4.10",
  extensionRequest: "1.2.840.113549.1.9.14",
  subjectAltName: "2.5.29.17",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
};

/**
 * Creates a key and a request (PKCS #10) for a certificate of an identity, for an authority in another process.
 *
 * @example
 * const { request, privateKey } = createCertificateRequest("lab.example", nodeAgentIdentity("node-1"));
 * // Where the authority is, once it is known who has sent the request:
 * const { identity, publicKey } = await readCertificateRequest(request);
 * const certificate = await authority.sign(publicKey, identity);
 */
export function createCertificateRequest(
  trustDomain: string,
  identity: Identity,
): CertificateRequest {
  const uri = identityUri(trustDomain, identity);
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { sequence, set, utf8String, integer, octetString, bitString } = derTags;
  const subject = der(
    sequence,
    der(set, der(sequence, derObjectId(oid.organization), der(utf8String, Buffer.from("virtkit")))),
  );
  const names = der(octetString, der(sequence, der(derTags.uri, Buffer.from(uri))));
  const extensions = der(sequence, der(sequence, derObjectId(oid.subjectAltName), names));
  const attribute = der(sequence, derObjectId(oid.extensionRequest), der(set, extensions));
  const info = der(
    sequence,
    der(integer, Buffer.from([0])),
    subject,
    keys.publicKey.export({ type: "spki", format: "der" }),
    der(derTags.first, attribute),
  );
  const signature = sign("sha256", info, keys.privateKey);
  const request = der(
    sequence,
    info,
    der(sequence, derObjectId(oid.ecdsaWithSha256)),
    // The first byte says how many bits of the last are not used.
    der(bitString, Buffer.from([0]), signature),
  );
  return {
    request: toPem("CERTIFICATE REQUEST", request),
    privateKey: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/**
 * Reads a request. Throws a {@link PkiError} if it is not one, its signature does not match its key, the key is
 * not on P-256, or it names anything but one identity.
 */
export async function readCertificateRequest(request: string): Promise<RequestFacts> {
  if (request.length > maxLength) {
    throw invalid(`has ${request.length} characters; the limit is ${maxLength}`);
  }
  const x509 = await loadX509();
  let parsed: X509.Pkcs10CertificateRequest;
  let publicKey: string;
  try {
    parsed = new x509.Pkcs10CertificateRequest(request);
    const key = createPublicKey(parsed.publicKey.toString("pem"));
    if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
      throw invalid("has a key that is not on the curve P-256; create one that is");
    }
    publicKey = key.export({ type: "spki", format: "pem" }).toString();
    if (!(await parsed.verify())) throw invalid("is not signed with its own key");
  } catch (cause) {
    if (cause instanceof PkiError) throw cause;
    throw invalid("cannot be read; pass it as PEM (PKCS #10)", cause);
  }
  const extension = parsed.getExtension(oid.subjectAltName);
  const [only, ...others] = extension
    ? new x509.SubjectAlternativeNameExtension(extension.rawData).names.items
    : [];
  const found = only?.type === "url" ? parseIdentityUri(only.value) : undefined;
  if (!found || others.length > 0) {
    throw invalid("does not name exactly one identity; make it with createCertificateRequest");
  }
  return { ...found, publicKey };
}

function toPem(label: string, content: Buffer): string {
  const lines = content.toString("base64").replace(/.{1,64}/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----\n`;
}

function invalid(what: string, cause?: unknown): PkiError {
  return new PkiError("PKI_INPUT_INVALID", `the request ${what}`, { path: "request", cause });
}
