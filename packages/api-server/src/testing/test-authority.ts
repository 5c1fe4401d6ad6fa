import "reflect-metadata";
import { KeyObject, randomBytes, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** A certificate and its key, as PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const validity = {
  notBefore: new Date(Date.now() - 60_000),
  notAfter: new Date(Date.now() + 3_600_000),
};

/** An authority such as clusters have for their front proxy: its certificates have common names. */
export class TestAuthority {
  readonly certificate: string;
  readonly privateKey: string;
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #own: x509.X509Certificate;

  private constructor(keys: webcrypto.CryptoKeyPair, own: x509.X509Certificate) {
    this.#keys = keys;
    this.#own = own;
    this.certificate = `${own.toString("pem").trim()}\n`;
    this.privateKey = exported(keys);
  }

  static async create(name: string): Promise<TestAuthority> {
    const keys = await newKeys();
    const own = await x509.X509CertificateGenerator.createSelfSigned({
      name: [{ CN: [name] }],
      serialNumber: serial(),
      ...validity,
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
    });
    return new TestAuthority(keys, own);
  }

  async issue(
    commonName: string,
    { usage = "clientAuth" }: { readonly usage?: "clientAuth" | "serverAuth" } = {},
  ): Promise<TestCertificate> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: [{ CN: [commonName] }],
      issuer: this.#own.subjectName,
      serialNumber: serial(),
      ...validity,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]])],
    });
    return { certificate: `${certificate.toString("pem").trim()}\n`, privateKey: exported(keys) };
  }
}

function serial(): string {
  return `40${randomBytes(15).toString("hex")}`;
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

function exported({ privateKey }: webcrypto.CryptoKeyPair): string {
  return KeyObject.from(privateKey).export({ type: "pkcs8", format: "pem" }).toString();
}
