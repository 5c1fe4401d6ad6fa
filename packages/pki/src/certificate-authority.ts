import { generateKeyPairSync } from "node:crypto";
import { isIP } from "node:net";
import { wallTime } from "@virtkit/api/clock";
import { type AuthorityContent, readAuthorities, writeAuthorities } from "./authority-record.ts";
import type { AuthorityStore, StoredAuthorities } from "./authority-store.ts";
import type { Credentials } from "./credentials.ts";
import { type Identity, identityUri } from "./identity.ts";
import { PkiError } from "./pki-error.ts";
import { defaultRotation, planRotation, type RotationPolicy, signerOf } from "./plan-rotation.ts";
import { createAuthority, signCertificate } from "./sign-certificate.ts";

/** Options for opening an authority. */
export interface AuthorityOptions {
  readonly store: AuthorityStore;
  /** The name of the installation; certificates of other installations are not trusted. Lower case. */
  readonly trustDomain: string;
  readonly rotation?: Partial<RotationPolicy>;
  readonly now?: () => Date;
}

/** What a certificate has in addition to its identity. */
export interface IssueOptions {
  /**
   * For peers that know the holder by a host name. Default: the UID for the target of a migration, otherwise
   * none.
   */
  readonly dnsNames?: readonly string[];
  readonly addresses?: readonly string[];
  /** Milliseconds. Default and limit: the policy's `certificateLifetime`. */
  readonly lifetime?: number;
}

/** Clocks of different hosts differ, so a certificate is valid from a moment before it is issued. */
const backdated = 5 * 60_000;
/** Each failed swap means that another process succeeded. */
const maxSwaps = 20;

/**
 * Issues certificates for a trust domain. Its keys are in a store; processes that share it agree on the same
 * authorities, even if they start at the same moment.
 *
 * @example
 * const store = new FileAuthorityStore("/var/lib/virtkit/pki");
 * const authority = await CertificateAuthority.open({ store, trustDomain: "lab.example" });
 * const credentials = await authority.issue(nodeAgentIdentity("node-1"));
 */
export class CertificateAuthority {
  readonly trustDomain: string;
  readonly #store: AuthorityStore;
  readonly #rotation: RotationPolicy;
  readonly #now: () => Date;
  #content: AuthorityContent;

  private constructor({ store, trustDomain, rotation, now = wallTime }: AuthorityOptions) {
    this.trustDomain = trustDomain;
    this.#store = store;
    this.#rotation = { ...defaultRotation, ...rotation };
    this.#now = now;
    this.#content = { trustDomain, authorities: [] };
  }

  /** Opens the store's content, or creates the first authority. */
  static async open(options: AuthorityOptions): Promise<CertificateAuthority> {
    identityUri(options.trustDomain, { role: "any", names: [] });
    const authority = new CertificateAuthority(options);
    await authority.refresh();
    return authority;
  }

  /** The trusted authorities, as PEM; during a rotation the old one and the new one. */
  get bundle(): string {
    return this.#content.authorities.map(({ certificate }) => certificate).join("");
  }

  /**
   * Reads the store again, creates a new authority if the last one expires soon, and drops those that nobody
   * needs any more. Call it much more often than `announce`.
   *
   * @param options `rotate` creates a new authority now, unless one exists that does not sign yet
   */
  async refresh({ rotate = false }: { readonly rotate?: boolean } = {}): Promise<void> {
    for (let attempt = 0; attempt < maxSwaps; attempt++) {
      const stored = await this.#store.read();
      const next = await this.#next(stored, rotate);
      if (!next.changed || (await this.#store.swap(writeAuthorities(next), stored?.revision))) {
        this.#content = next;
        return;
      }
    }
    const message = `the store changed ${maxSwaps} times during one rotation; find out who writes to it`;
    throw new PkiError("PKI_STORE_INVALID", message, { path: "store" });
  }

  /** A certificate with its own key. It is valid for servers and clients. */
  async issue(identity: Identity, options: IssueOptions = {}): Promise<Credentials> {
    const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const publicKey = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
    const certificate = await this.sign(publicKey, identity, options);
    const privateKey = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { certificate, privateKey, authorities: this.bundle };
  }

  /**
   * A certificate, as PEM, for a key of another process. Call it only for an identity that the other is known
   * to have: a request may say anything.
   *
   * @param publicKey as PEM, on P-256
   */
  async sign(publicKey: string, identity: Identity, options: IssueOptions = {}): Promise<string> {
    const { dnsNames = namesOf(identity), addresses = [] } = options;
    const { certificateLifetime } = this.#rotation;
    const { lifetime = certificateLifetime } = options;
    if (!(lifetime > 0 && lifetime <= certificateLifetime)) {
      const message = `lifetime is ${lifetime} ms; it must be greater than 0 and at most ${certificateLifetime}`;
      throw new PkiError("PKI_INPUT_INVALID", message, { path: "lifetime" });
    }
    checkNames(dnsNames, addresses);
    const uri = identityUri(this.trustDomain, identity);
    const now = this.#now();
    const signer = signerOf(this.#content.authorities, now);
    if (!signer) {
      const message = "no authority may sign now; call refresh";
      throw new PkiError("PKI_INPUT_INVALID", message, { path: "authorities" });
    }
    const end = Math.min(now.getTime() + lifetime, signer.expires.getTime());
    const validity = {
      notBefore: new Date(now.getTime() - backdated),
      notAfter: new Date(end),
    };
    return await signCertificate(signer, publicKey, { uri, dnsNames, addresses }, validity);
  }

  async #next(
    stored: StoredAuthorities | undefined,
    force: boolean,
  ): Promise<AuthorityContent & { readonly changed: boolean }> {
    const { trustDomain } = this;
    const { authorities, ...found } = stored
      ? readAuthorities(stored.content)
      : { trustDomain, authorities: [] };
    if (found.trustDomain !== trustDomain) {
      const message = `the store belongs to trust domain ${found.trustDomain}, not ${trustDomain}; use one store per trust domain`;
      throw new PkiError("PKI_STORE_INVALID", message, { path: "trustDomain" });
    }
    const now = this.#now();
    const { keep, add } = planRotation(authorities, now, this.#rotation, { force });
    if (!add) return { trustDomain, authorities: keep, changed: keep.length < authorities.length };
    const notBefore = new Date(now.getTime() - backdated);
    const pair = await createAuthority(trustDomain, { notBefore, notAfter: add.expires });
    return { trustDomain, authorities: [...keep, { ...pair, ...add }], changed: true };
  }
}

/** QEMU knows the target of a migration by its UID as a host name. */
function namesOf({ role, names: [uid, side] }: Identity): string[] {
  return role === "migration" && side === "target" && uid !== undefined ? [uid] : [];
}

const dnsName = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

function checkNames(dnsNames: readonly string[], addresses: readonly string[]): void {
  for (const [index, name] of dnsNames.entries()) {
    if (name.length <= 253 && dnsName.test(name)) continue;
    const message = `dnsNames[${index}] is ${JSON.stringify(name)}; it must be a host name in lower case`;
    throw new PkiError("PKI_INPUT_INVALID", message, { path: `dnsNames[${index}]` });
  }
  for (const [index, address] of addresses.entries()) {
    if (isIP(address) > 0) continue;
    const message = `addresses[${index}] is ${JSON.stringify(address)}; it must be an IP address`;
    throw new PkiError("PKI_INPUT_INVALID", message, { path: `addresses[${index}]` });
  }
}
