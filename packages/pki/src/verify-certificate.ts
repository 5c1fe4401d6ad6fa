import type { X509Certificate } from "node:crypto";
import { wallTime } from "@virtkit/api/clock";
import { describeIdentity, type Expectation, type Identity, isExpected } from "./identity.ts";
import { PkiError } from "./pki-error.ts";
import { type Purpose, parseCertificate, readCertificate } from "./read-certificate.ts";

/** What a certificate is verified against. */
export interface VerifyOptions {
  /** The trusted authorities' certificates, as PEM one after the other. */
  readonly authorities: string;
  readonly trustDomain: string;
  readonly expected: Expectation;
  /** The use of the certificate. */
  readonly purpose: Purpose;
  readonly now?: () => Date;
}

/**
 * Whether a certificate may be trusted for its use: signed by one of the authorities itself, valid now, not an
 * authority, of this trust domain, with the purpose, and for exactly the expected identity.
 *
 * @returns its holder
 * @throws a {@link PkiError} `PKI_UNTRUSTED` that says what is wrong with it
 */
export function verifyCertificate(
  certificate: string | Uint8Array,
  { authorities, trustDomain, expected, purpose, now = wallTime }: VerifyOptions,
): Identity {
  const facts = readCertificate(certificate);
  const time = now();
  if (!isSigned(parseCertificate(certificate), authorities, time)) {
    throw untrusted("issuer", "is not signed by a trusted authority that is valid now");
  }
  if (facts.isAuthority) throw untrusted("basicConstraints", "belongs to an authority");
  if (!isWithin(time, facts.notBefore, facts.expires)) {
    const period = `${facts.notBefore.toISOString()} to ${facts.expires.toISOString()}`;
    throw untrusted("validity", `is valid from ${period}; it is now ${time.toISOString()}`);
  }
  if (!facts.purposes.includes(purpose)) {
    const found = facts.purposes.join(" and ") || "nothing";
    throw untrusted("extendedKeyUsage", `is for use as ${found}, not as ${purpose}`);
  }
  if (facts.trustDomain !== trustDomain) {
    throw untrusted(
      "trustDomain",
      `belongs to trust domain ${facts.trustDomain}, not ${trustDomain}`,
    );
  }
  if (!isExpected(facts.identity, expected)) {
    const [found, wanted] = [facts.identity, expected].map(describeIdentity);
    throw untrusted("identity", `is for ${found}, not for ${wanted}`);
  }
  return facts.identity;
}

/** Authorities sign directly, so no intermediate can be trusted by mistake. */
function isSigned(certificate: X509Certificate, authorities: string, now: Date): boolean {
  return splitPem(authorities).some((pem) => {
    const authority = parseCertificate(pem);
    return (
      authority.ca &&
      isWithin(now, new Date(authority.validFrom), new Date(authority.validTo)) &&
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey)
    );
  });
}

/** The certificates in text that has one after the other. */
export function splitPem(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

function isWithin(time: Date, from: Date, to: Date): boolean {
  return from <= time && time <= to;
}

function untrusted(path: string, what: string): PkiError {
  return new PkiError("PKI_UNTRUSTED", `the peer's certificate ${what}`, { path });
}
