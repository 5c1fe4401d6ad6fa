import "reflect-metadata";
import { X509Certificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { beforeAll, describe, expect, it } from "vitest";
import { CertificateAuthority } from "./certificate-authority.ts";
import { migrationIdentity, nodeAgentIdentity } from "./identity.ts";
import type { Purpose } from "./read-certificate.ts";
import { splitPem, type VerifyOptions, verifyCertificate } from "./verify-certificate.ts";

const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";
const target = migrationIdentity(uid, "target");
const uri = `spiffe://lab/migration/${uid}/target`;
const start = Date.UTC(2030, 0, 1);
const hour = 3_600_000;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const validity = { notBefore: new Date(start - hour), notAfter: new Date(start + hour) };

const newAuthority = (trustDomain = "lab"): Promise<CertificateAuthority> =>
  CertificateAuthority.open({
    trustDomain,
    store: { read: async () => undefined, swap: async () => true },
    now: () => new Date(start),
  });
const newKeys = (): Promise<CryptoKeyPair> =>
  crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);

/** An authority of our own that signs anything, like somebody with our library but without our rules. */
async function carelessAuthority() {
  const keys = await newKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=careless",
    keys,
    ...validity,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const sign = async (
    names: x509.JsonGeneralNames,
    {
      isAuthority = false,
      usages = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"],
      issuer = authority.subject,
      signingKey = keys.privateKey,
    } = {},
  ): Promise<{ certificate: string; privateKey: CryptoKey; subject: string }> => {
    const own = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: "CN=leaf",
      issuer,
      ...validity,
      publicKey: own.publicKey,
      signingKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(isAuthority, undefined, true),
        new x509.ExtendedKeyUsageExtension(usages),
        new x509.SubjectAlternativeNameExtension(names),
      ],
    });
    const { privateKey } = own;
    return { certificate: certificate.toString("pem"), privateKey, subject: certificate.subject };
  };
  return { authorities: `${authority.toString("pem")}\n`, sign };
}

const verify = (certificate: string, options: Partial<VerifyOptions>): unknown =>
  verifyCertificate(certificate, {
    authorities: "",
    trustDomain: "lab",
    expected: target,
    purpose: "server",
    now: () => new Date(start),
    ...options,
  });

/** The usual check: the chain is right, and the name is in it somewhere. */
function naivelyTrusts(certificate: string, authorities: string): boolean {
  const leaf = new X509Certificate(certificate);
  const signed = splitPem(authorities).some((pem) =>
    leaf.verify(new X509Certificate(pem).publicKey),
  );
  return signed && (leaf.subjectAltName ?? "").includes(uid);
}

describe("a certificate of our authority", () => {
  let authority: CertificateAuthority;
  beforeAll(async () => {
    authority = await newAuthority();
  });

  it("is trusted for its holder, as server and as client", async () => {
    const { certificate, authorities } = await authority.issue(target);
    for (const purpose of ["server", "client"] satisfies Purpose[]) {
      expect(verify(certificate, { authorities, purpose })).toEqual(target);
    }
    expect(verify(certificate, { authorities, expected: { anyOf: "migration" } })).toEqual(target);
    const { raw } = new X509Certificate(certificate);
    expect(
      verifyCertificate(raw, {
        authorities,
        trustDomain: "lab",
        expected: target,
        purpose: "server",
        now: () => new Date(start),
      }),
    ).toEqual(target);
  });

  it.each([
    ["the other side", migrationIdentity(uid, "source")],
    ["a role that has the UID as its name", { role: "node-agent", names: [uid] }],
    ["an additional name", { role: "migration", names: [uid, "target", "x"] }],
    ["a missing name", { role: "migration", names: [uid] }],
  ])(
    "is not trusted for somebody else: %s; control: its chain and the UID in it are right",
    async (_what, identity) => {
      const { certificate, authorities } = await authority.issue(identity);
      expect(() => verify(certificate, { authorities })).toThrow(
        expect.objectContaining({ code: "PKI_UNTRUSTED", path: "identity" }),
      );
      expect(naivelyTrusts(certificate, authorities)).toBe(true);
    },
  );

  it.each([
    ["another migration", migrationIdentity("other", "target")],
    ["a node agent", nodeAgentIdentity("node-1")],
  ])("is not trusted for somebody else: %s", async (_what, identity) => {
    const { certificate, authorities } = await authority.issue(identity);
    expect(() => verify(certificate, { authorities })).toThrow(
      expect.objectContaining({ code: "PKI_UNTRUSTED", path: "identity" }),
    );
  });

  it.each([
    ["before it is valid", start - 6 * 60_000],
    ["when it has expired", start + 25 * hour],
  ])("is not trusted %s", async (_when, time) => {
    const { certificate, authorities } = await authority.issue(target);
    const now = (): Date => new Date(time);
    expect(() => verify(certificate, { authorities, now })).toThrow(
      expect.objectContaining({ code: "PKI_UNTRUSTED" }),
    );
  });

  it("is not trusted in another trust domain, or by those who trust another authority", async () => {
    const { certificate, authorities } = await authority.issue(target);
    expect(() => verify(certificate, { authorities, trustDomain: "other" })).toThrow(
      "belongs to trust domain lab",
    );
    const stranger = await newAuthority();
    expect(() => verify(certificate, { authorities: stranger.bundle })).toThrow("is not signed by");
    expect(() => verify(certificate, { authorities: "" })).toThrow("is not signed by");
  });

  it("is not trusted when it is the authority's own", async () => {
    expect(() => verify(authority.bundle, { authorities: authority.bundle })).toThrow(
      expect.objectContaining({ code: "PKI_UNTRUSTED" }),
    );
  });
});

describe("an authority that signs anything does not make these trusted", () => {
  it.each<[string, x509.JsonGeneralNames]>([
    ["no identity", [{ type: "dns", value: uid }]],
    [
      "two identities",
      [
        { type: "url", value: uri },
        { type: "url", value: "spiffe://lab/a/b" },
      ],
    ],
    ["the identity inside a host name", [{ type: "dns", value: `x, URI:${uri}` }]],
    [
      "a host name that ends in quotation marks",
      [
        { type: "dns", value: '"' },
        { type: "url", value: uri },
      ],
    ],
    ["the identity as a mail address", [{ type: "email", value: uri }]],
    ["an identity with an escape", [{ type: "url", value: uri.replace("target", "t%61rget") }]],
    ["an identity with a newline", [{ type: "url", value: `${uri}\n` }]],
    ["an identity with a NUL", [{ type: "url", value: `${uri}\0.example` }]],
  ])("%s; control: the chain is right and the UID is in it", async (_what, names) => {
    const { authorities, sign } = await carelessAuthority();
    const { certificate } = await sign(names);
    expect(() => verify(certificate, { authorities })).toThrow(
      expect.objectContaining({ code: "PKI_UNTRUSTED", path: "subjectAltName" }),
    );
    expect(naivelyTrusts(certificate, authorities)).toBe(true);
  });

  it("a certificate for another purpose", async () => {
    const { authorities, sign } = await carelessAuthority();
    const { certificate } = await sign([{ type: "url", value: uri }], {
      usages: ["1.3.6.1.5.5.7.3.2"],
    });
    expect(verify(certificate, { authorities, purpose: "client" })).toEqual(target);
    expect(() => verify(certificate, { authorities })).toThrow(
      expect.objectContaining({ path: "extendedKeyUsage" }),
    );
  });

  it("an authority that shows its own certificate", async () => {
    const { authorities, sign } = await carelessAuthority();
    const { certificate } = await sign([{ type: "url", value: uri }], { isAuthority: true });
    expect(() => verify(certificate, { authorities })).toThrow(
      expect.objectContaining({ path: "basicConstraints" }),
    );
  });

  it("a certificate that was signed by one that is trusted for something else", async () => {
    const { authorities, sign } = await carelessAuthority();
    const between = await sign([{ type: "url", value: "spiffe://lab/node-agent/a" }]);
    const { certificate } = await sign([{ type: "url", value: uri }], {
      issuer: between.subject,
      signingKey: between.privateKey,
    });
    expect(() => verify(certificate, { authorities })).toThrow(
      expect.objectContaining({ path: "issuer" }),
    );
    // Control: with the intermediate one among the trusted, the signature is right.
    expect(naivelyTrusts(certificate, authorities + between.certificate)).toBe(true);
    expect(() => verify(certificate, { authorities: authorities + between.certificate })).toThrow(
      expect.objectContaining({ path: "issuer" }),
    );
  });
});

it.each([
  ["nothing", ""],
  ["text", "hello"],
  ["a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"],
  ["half a certificate", "-----BEGIN CERTIFICATE-----\nMIIB"],
  ["too much", `-----BEGIN CERTIFICATE-----\n${"A".repeat(100_000)}`],
])("refuses what is not a certificate: %s", (_what, certificate) => {
  expect(() => verify(certificate, {})).toThrow(
    expect.objectContaining({ code: "PKI_INPUT_INVALID", path: "certificate" }),
  );
});
