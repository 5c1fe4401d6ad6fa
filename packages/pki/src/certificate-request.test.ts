import { execFileSync } from "node:child_process";
import { createPublicKey, X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import type { AuthorityStore, StoredAuthorities } from "./authority-store.ts";
import { CertificateAuthority } from "./certificate-authority.ts";
import { createCertificateRequest, readCertificateRequest } from "./certificate-request.ts";
import { migrationIdentity, nodeAgentIdentity } from "./identity.ts";
import { verifyCertificate } from "./verify-certificate.ts";

const node = nodeAgentIdentity("node-1");

function memoryStore(): AuthorityStore {
  let stored: StoredAuthorities | undefined;
  return {
    read: async () => stored,
    swap: async (content) => {
      stored = { content, revision: "1" };
      return true;
    },
  };
}

it("creates a request that OpenSSL accepts, and that names the requester", async () => {
  const { request, privateKey } = createCertificateRequest("lab.example", node);
  const shown = execFileSync("openssl", ["req", "-noout", "-text", "-verify"], {
    input: request,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  });
  expect(shown).toContain("URI:spiffe://lab.example/node-agent/node-1");
  const facts = await readCertificateRequest(request);
  expect(facts).toMatchObject({ trustDomain: "lab.example", identity: node });
  const own = createPublicKey(privateKey).export({ type: "spki", format: "pem" });
  expect(facts.publicKey).toBe(own);
});

it("an authority signs a key that it never sees", async () => {
  const store = memoryStore();
  const authority = await CertificateAuthority.open({ store, trustDomain: "lab" });
  const identity = migrationIdentity("0d8e5c10-9d0e-4f34-8a86-2f7a4f0c9f52", "target");
  const { request, privateKey } = createCertificateRequest("lab", identity);
  const { publicKey } = await readCertificateRequest(request);
  const certificate = await authority.sign(publicKey, identity);
  const options = { authorities: authority.bundle, trustDomain: "lab", purpose: "server" } as const;
  expect(verifyCertificate(certificate, { ...options, expected: identity })).toEqual(identity);
  expect(new X509Certificate(certificate).publicKey.export({ type: "spki", format: "pem" })).toBe(
    createPublicKey(privateKey).export({ type: "spki", format: "pem" }),
  );
  // QEMU knows the target by this name.
  expect(new X509Certificate(certificate).subjectAltName).toContain(`DNS:${identity.names[0]}`);
});

it("refuses a request that was changed, is too long, or is not one", async () => {
  const { request } = createCertificateRequest("lab", node);
  const body = Buffer.from(request.split("\n").slice(1, -2).join(""), "base64");
  const at = body.indexOf("node-1");
  body.write("node-2", at);
  const changed = `-----BEGIN CERTIFICATE REQUEST-----\n${body.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  await expect(readCertificateRequest(changed)).rejects.toThrow("not signed with its own key");
  await expect(readCertificateRequest("x".repeat(20_000))).rejects.toThrow("the limit is 16384");
  await expect(readCertificateRequest("hello")).rejects.toThrow("cannot be read");
});

it.each([
  ["several names", "URI:spiffe://lab/node-agent/a,URI:spiffe://lab/node-agent/b"],
  ["a host name in addition", "URI:spiffe://lab/node-agent/a,DNS:kubernetes.default.svc"],
  ["no identity", "DNS:a.example"],
])("refuses a request with %s", async (_, names) => {
  const args = ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const more = ["-keyout", "/dev/null", "-subj", "/O=x", "-addext", `subjectAltName=${names}`];
  const request = execFileSync("openssl", [...args, ...more], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  await expect(readCertificateRequest(request)).rejects.toThrow("exactly one identity");
});

it("refuses a key of another kind", async () => {
  const args = ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null"];
  const request = execFileSync("openssl", [...args, "-subj", "/O=x"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  await expect(readCertificateRequest(request)).rejects.toThrow("P-256");
});
