import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import type { AuthorityStore, StoredAuthorities } from "./authority-store.ts";
import { type AuthorityOptions, CertificateAuthority } from "./certificate-authority.ts";
import { FileAuthorityStore } from "./file-authority-store.ts";
import { type Expectation, migrationIdentity, nodeAgentIdentity } from "./identity.ts";
import { readCertificate } from "./read-certificate.ts";
import { splitPem, verifyCertificate } from "./verify-certificate.ts";

const hour = 3_600_000;
const start = Date.UTC(2030, 0, 1);
const node = nodeAgentIdentity("node-1");

/** Keeps one text in memory. A swap that compares nothing is what a naive program would do. */
class MemoryStore implements AuthorityStore {
  #stored: StoredAuthorities | undefined;
  swaps = 0;
  readonly #naive: boolean;
  constructor({ naive = false } = {}) {
    this.#naive = naive;
  }
  async read(): Promise<StoredAuthorities | undefined> {
    return this.#stored;
  }
  async swap(content: string, revision: string | undefined): Promise<boolean> {
    if (!this.#naive && this.#stored?.revision !== revision) return false;
    this.#stored = { content, revision: String(++this.swaps) };
    return true;
  }
}

let hours = 0;
const now = (): Date => new Date(start + hours * hour);
const open = (options: Partial<AuthorityOptions> = {}): Promise<CertificateAuthority> =>
  CertificateAuthority.open({ store: new MemoryStore(), trustDomain: "lab", now, ...options });
const verify = (certificate: string, authorities: string, expected: Expectation = node): unknown =>
  verifyCertificate(certificate, {
    authorities,
    trustDomain: "lab",
    expected,
    purpose: "client",
    now,
  });

const directories: string[] = [];
afterEach(() => {
  hours = 0;
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

it("issues a signed certificate with its holder's identity and validity", async () => {
  const authority = await open();
  const { certificate, authorities } = await authority.issue(node, {
    dnsNames: ["api.lab.svc"],
    addresses: ["10.0.0.1", "fd00::1"],
  });
  expect(verify(certificate, authorities)).toEqual(node);
  expect(readCertificate(certificate)).toEqual({
    trustDomain: "lab",
    identity: node,
    purposes: ["server", "client"],
    isAuthority: false,
    notBefore: new Date(start - 5 * 60_000),
    expires: new Date(start + 24 * hour),
  });
  const parsed = new X509Certificate(certificate);
  expect(parsed.checkHost("api.lab.svc")).toBe("api.lab.svc");
  expect(parsed.checkIP("fd00::1")).toBe("fd00::1");
});

it("the certificate of a migration's target has the UID as a host name; the source's does not", async () => {
  const authority = await open();
  const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";
  const [target, source] = await Promise.all([
    authority.issue(migrationIdentity(uid, "target")),
    authority.issue(migrationIdentity(uid, "source")),
  ]);
  expect(new X509Certificate(target.certificate).checkHost(uid)).toBe(uid);
  expect(new X509Certificate(source.certificate).checkHost(uid)).toBeUndefined();
});

it.each([
  ["dnsNames[0]", { dnsNames: ["a b"] }],
  ["dnsNames[1]", { dnsNames: ["a", "b, URI:spiffe://lab/migration/u/target"] }],
  ["addresses[0]", { addresses: ["10.0.0.256"] }],
  ["lifetime", { lifetime: 25 * hour }],
  ["lifetime", { lifetime: 0 }],
  ["lifetime", { lifetime: Number.NaN }],
])("refuses to issue what makes no sense: %s", async (where, options) => {
  const authority = await open();
  await expect(authority.issue(node, options)).rejects.toMatchObject({
    code: "PKI_INPUT_INVALID",
    path: where,
  });
});

it("rotates so that everybody always trusts everybody, and drops the old authority", async () => {
  const store = new MemoryStore();
  const rotation = { announce: 6 * hour };
  // The other one looks late, but within the announcement.
  const [busy, late] = [await open({ store, rotation }), await open({ store, rotation })];
  let last = await late.issue(node);
  const seen = new Set<string>();
  for (hours = 0; hours < 400; hours += 5) {
    await busy.refresh();
    const fresh = await busy.issue(node);
    expect(verify(fresh.certificate, last.authorities)).toEqual(node);
    expect(verify(last.certificate, fresh.authorities)).toEqual(node);
    for (const pem of splitPem(busy.bundle)) seen.add(pem);
    await late.refresh();
    last = await late.issue(node);
  }
  expect(seen.size).toBe(3);
  expect(splitPem(busy.bundle)).toHaveLength(1);
});

it("control: a rotation without an announcement leaves behind those who have not refreshed yet", async () => {
  const store = new MemoryStore();
  const rotation = { announce: 0 };
  const [busy, idle] = [await open({ store, rotation }), await open({ store, rotation })];
  await busy.refresh({ rotate: true });
  const { certificate } = await busy.issue(node);
  expect(() => verify(certificate, idle.bundle)).toThrow("is not signed by a trusted authority");
});

it("a rotation can be requested; requesting it again while it is announced does nothing", async () => {
  const authority = await open();
  const old = await authority.issue(node);
  await authority.refresh({ rotate: true });
  await authority.refresh({ rotate: true });
  expect(splitPem(authority.bundle)).toHaveLength(2);
  hours = 2;
  const fresh = await authority.issue(node);
  expect(verify(old.certificate, authority.bundle)).toEqual(node);
  expect(verify(fresh.certificate, authority.bundle)).toEqual(node);
  expect(() => verify(fresh.certificate, old.authorities)).toThrow("not signed by a trusted");
});

it("an expired authority signs nothing until it is refreshed", async () => {
  const authority = await open();
  hours = 200;
  await expect(authority.issue(node)).rejects.toThrow("no authority may sign now");
  await authority.refresh();
  expect(verify((await authority.issue(node)).certificate, authority.bundle)).toEqual(node);
});

it("a store of another trust domain is refused", async () => {
  const store = new MemoryStore();
  await open({ store });
  await expect(open({ store, trustDomain: "other" })).rejects.toMatchObject({
    code: "PKI_STORE_INVALID",
    path: "trustDomain",
  });
  await expect(open({ trustDomain: "Not a domain" })).rejects.toMatchObject({
    path: "trustDomain",
  });
});

it("those that start at the same time agree on one authority", async () => {
  const bundles = await bundlesOfRace(new MemoryStore());
  expect(bundles.size).toBe(1);
});

it("control: with a store that does not compare they do not", async () => {
  const bundles = await bundlesOfRace(new MemoryStore({ naive: true }));
  expect(bundles.size).toBeGreaterThan(1);
});

it("those that rotate at the same time create one new authority", async () => {
  const store = new MemoryStore();
  const all = await Promise.all(Array.from({ length: 5 }, () => open({ store })));
  await Promise.all(all.map((authority) => authority.refresh({ rotate: true })));
  expect(new Set(all.map(({ bundle }) => bundle)).size).toBe(1);
  expect(splitPem(all[0]?.bundle ?? "")).toHaveLength(2);
});

it("a store that always changes ends in an error, not in an endless loop", async () => {
  const store: AuthorityStore = { read: async () => undefined, swap: async () => false };
  await expect(open({ store })).rejects.toMatchObject({ code: "PKI_STORE_INVALID" });
});

it("processes that start at the same time on one directory agree on one authority", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "virtkit-pki-"));
  directories.push(directory);
  const program = `
    import { CertificateAuthority, FileAuthorityStore } from "@virtkit/pki";
    const store = new FileAuthorityStore(${JSON.stringify(directory)});
    const { bundle } = await CertificateAuthority.open({ store, trustDomain: "lab" });
    process.stdout.write(bundle);`;
  const cwd = path.dirname(import.meta.dirname);
  const args = ["--input-type=module", "-e", program];
  const run = () => promisify(execFile)(process.execPath, args, { cwd, timeout: 100_000 });
  const bundles = (await Promise.all([run(), run(), run()])).map(({ stdout }) => stdout);
  const stored = await CertificateAuthority.open({
    store: new FileAuthorityStore(directory),
    trustDomain: "lab",
  });
  expect(new Set([...bundles, stored.bundle]).size).toBe(1);
}, 120_000);

async function bundlesOfRace(store: AuthorityStore): Promise<Set<string>> {
  const all = await Promise.all(Array.from({ length: 5 }, () => open({ store })));
  return new Set(all.map(({ bundle }) => bundle));
}
