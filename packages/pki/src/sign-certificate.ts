import { createPrivateKey, createPublicKey, KeyObject, randomBytes, webcrypto } from "node:crypto";
import type * as X509 from "@peculiar/x509";
import { loadX509 } from "./load-x509.ts";

/** A certificate and its key, as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Start and end of validity. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** What a certificate of a holder says. */
export interface LeafNames {
  readonly uri: string;
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
}

// P-256: TLS 1.3, OpenSSL and QEMU's GnuTLS all support it, with signatures in a tenth of a millisecond.
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A new self-signed authority. */
export async function createAuthority(name: string, validity: Validity): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const serialNumber = newSerial();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    // Names are unique, so that everybody finds the right one of several.
    name: [{ CN: [`${name} ${serialNumber.slice(-8)}`] }],
    serialNumber,
    ...validity,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      // Nobody below it may sign.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pem(certificate), privateKey: exportKey(keys.privateKey) };
}

/**
 * A certificate of a key, as PEM, signed by an authority. It contains what the authority says and nothing else.
 */
export async function signCertificate(
  authority: KeyPair,
  publicKey: string,
  { uri, dnsNames, addresses }: LeafNames,
  validity: Validity,
): Promise<string> {
  const x509 = await loadX509();
  const key = await importPublicKey(publicKey);
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    // Without a common name: some readers treat it as a host name.
    subject: [{ O: ["virtkit"] }],
    issuer: issuer.subjectName,
    serialNumber: newSerial(),
    ...validity,
    publicKey: key,
    signingKey: await importKey(authority.privateKey),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      // Before 10.0.7 QEMU refuses a certificate whose critical key usage lacks the second.
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
        true,
      ),
      new x509.ExtendedKeyUsageExtension([
        x509.ExtendedKeyUsage.serverAuth,
        x509.ExtendedKeyUsage.clientAuth,
      ]),
      new x509.SubjectAlternativeNameExtension([
        { type: "url", value: uri },
        ...dnsNames.map((value) => ({ type: "dns" as const, value })),
        ...addresses.map((value) => ({ type: "ip" as const, value })),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(key),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return pem(certificate);
}

/** Positive and of fixed length. */
function newSerial(): string {
  return `40${randomBytes(15).toString("hex")}`;
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function importKey(privateKey: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(privateKey).export({ type: "pkcs8", format: "der" });
  return await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

async function importPublicKey(publicKey: string): Promise<webcrypto.CryptoKey> {
  const spki = createPublicKey(publicKey).export({ type: "spki", format: "der" });
  return await webcrypto.subtle.importKey("spki", spki, algorithm, true, ["verify"]);
}

function exportKey(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(certificate: X509.X509Certificate): string {
  return `${certificate.toString("pem").trim()}\n`;
}
