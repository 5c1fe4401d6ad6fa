import { X509Certificate } from "node:crypto";
import { type Identity, parseIdentityUri } from "./identity.ts";
import { PkiError } from "./pki-error.ts";

/** What a certificate may be used for. */
export type Purpose = "server" | "client";

/** The content of a certificate. Nothing here is verified; see `verifyCertificate`. */
export interface CertificateFacts {
  readonly trustDomain: string;
  readonly identity: Identity;
  readonly purposes: readonly Purpose[];
  readonly isAuthority: boolean;
  readonly notBefore: Date;
  readonly expires: Date;
}

const purposes: Readonly<Record<string, Purpose>> = {
  "1.3.6.1.5.5.7.3.1": "server",
  "1.3.6.1.5.5.7.3.2": "client",
};

/** No certificate of this package is a quarter as large. */
const maxBytes = 16_384;

/**
 * Node's reader. It costs nothing, while a library costs 17 MB of memory. Throws if it is not a certificate.
 */
export function parseCertificate(certificate: string | Uint8Array): X509Certificate {
  if (certificate.length > maxBytes) {
    const message = `the certificate has ${certificate.length} bytes; the limit is ${maxBytes}`;
    throw new PkiError("PKI_INPUT_INVALID", message, { path: "certificate" });
  }
  try {
    return new X509Certificate(certificate);
  } catch (cause) {
    const message = "the certificate cannot be read; pass it as PEM or DER";
    throw new PkiError("PKI_INPUT_INVALID", message, { path: "certificate", cause });
  }
}

/** Reads the holder and the validity of a certificate. Throws if it has no identity, or several. */
export function readCertificate(certificate: string | Uint8Array): CertificateFacts {
  const parsed = parseCertificate(certificate);
  const found = parseIdentityUri(onlyUri(parsed.subjectAltName ?? ""));
  if (!found) {
    const message = `the certificate's names are ${shorten(parsed.subjectAltName ?? "none")}; exactly one URI must be an identity`;
    throw new PkiError("PKI_UNTRUSTED", message, { path: "subjectAltName" });
  }
  return {
    ...found,
    // Node's name for the extended key usage.
    purposes: (parsed.keyUsage ?? []).flatMap((oid) => purposes[oid] ?? []),
    isAuthority: parsed.ca,
    notBefore: new Date(parsed.validFrom),
    expires: new Date(parsed.validTo),
  };
}

/**
 * Node writes `URI:a, DNS:b`, and quotes a value that contains a comma or a quotation mark: text with any of
 * those is not ours, and without them a comma separates.
 */
function onlyUri(alternativeNames: string): string {
  if (alternativeNames.includes('"')) return "";
  const uris = alternativeNames.split(", ").filter((name) => name.startsWith("URI:"));
  return uris.length === 1 ? (uris[0] ?? "").slice("URI:".length) : "";
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}...` : text;
}
