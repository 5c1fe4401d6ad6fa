import type { ServiceAccounts } from "@virtkit/api/admission";
import { type Clock, every, realClock } from "@virtkit/api/clock";
import { certificateNames, type Names } from "@virtkit/api/names";
import { describeError, type Observers } from "@virtkit/api/observe";
import { at, objects, text } from "@virtkit/api/shape";
import { isConflict, isNotFound, type KubeClient, type KubeObject } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { createController, type ReconcileResult, watch } from "@virtkit/kube/controller";
import {
  type CertificateAuthority,
  describeIdentity,
  type Identity,
  isPkiError,
  type RequestFacts,
  readCertificateRequest,
} from "@virtkit/pki";
import { otherResources, serverResources } from "../resources.ts";
import { judgeRequest, type MigrationFacts, type Requester } from "./judge-request.ts";
import { publishBundle } from "./publish-bundle.ts";

/** What a signer is made of. */
export interface CertificateSignerOptions extends Observers {
  readonly client: KubeClient;
  readonly authority: CertificateAuthority;
  /** Where the platform is installed, and the CA bundle is published. */
  readonly namespace: string;
  /** The platform's own accounts: node agents may ask. */
  readonly accounts: ServiceAccounts;
  readonly names: Names;
  /** Milliseconds between checks of the CAs. Default 10 minutes. */
  readonly publishInterval?: number;
  readonly clock?: Clock;
}

/** A signer that was made by {@link createCertificateSigner}. */
export interface CertificateSigner {
  /** Publishes the trusted CAs, and answers requests until the signal. Several processes may do so at once. */
  run(options: { readonly signal: AbortSignal }): Promise<void>;
  /** For a health check; empty if all is well. */
  problems(): readonly string[];
}

/** The parts of a CertificateSigningRequest that a signer uses. */
interface SigningRequest extends KubeObject {
  readonly spec?: Requester & {
    readonly signerName?: string;
    /** PEM in base64. */
    readonly request?: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** What our certificates are for. */
const usages = ["digital signature", "key encipherment", "server auth", "client auth"];

/**
 * Signs the certificates of node agents, which do not have the authority's key: they create CertificateSigningRequests,
 * and the API server says who has created them. A request that does not fit its sender is denied, with the reason.
 *
 * @example
 * const signer = createCertificateSigner({ client, authority, namespace, accounts, names });
 * await signer.run({ signal });
 */
export function createCertificateSigner(options: CertificateSignerOptions): CertificateSigner {
  const { client, authority, namespace, names, log, metrics } = options;
  const { clock = realClock, publishInterval = 10 * 60_000 } = options;
  const { signer, bundle } = certificateNames(names);
  const cache = new Cache<KubeObject>(otherResources.signingRequests);
  const place = { namespace, ...bundle };
  const publish = async (): Promise<void> => {
    await publishBundle(client, place, async () => {
      await authority.refresh();
      return authority.bundle;
    });
  };
  const publishing = (): void => {
    publish().catch((error: unknown) =>
      log?.warn({ error: describeError(error) }, "the CA bundle could not be published"),
    );
  };
  const controller = createController({
    ...{ name: "certificate-signer", client, clock },
    ...(log && { log }),
    ...(metrics && { metrics }),
    watches: [watch(cache, { follow: { fieldSelector: `spec.signerName=${signer}` } })],
    reconcile: async ({ name }) => await new RequestPass(options, publish).answer(name),
  });
  return {
    async run({ signal }) {
      publishing();
      const stop = every(clock, publishInterval, publishing);
      try {
        await controller.run({ signal });
      } finally {
        stop();
      }
    },
    problems: () => controller.problems(),
  };
}

/** Handles one request once. */
class RequestPass {
  readonly #options: CertificateSignerOptions;
  readonly #publish: () => Promise<void>;

  constructor(options: CertificateSignerOptions, publish: () => Promise<void>) {
    this.#options = options;
    this.#publish = publish;
  }

  async answer(name: string): Promise<ReconcileResult | undefined> {
    const { client, names } = this.#options;
    try {
      const found: SigningRequest = await client.get(otherResources.signingRequests, { name });
      if (found.spec?.signerName !== certificateNames(names).signer || isAnswered(found)) {
        return undefined;
      }
      await this.#decide(found);
      return undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      // Another replica was faster; look once more, in case it did not finish.
      if (isConflict(error)) return { requeueAfter: 1_000 };
      throw error;
    }
  }

  async #decide(found: SigningRequest): Promise<void> {
    const { authority, accounts } = this.#options;
    const { spec = {} } = found;
    let asked: RequestFacts;
    try {
      asked = await readCertificateRequest(
        Buffer.from(text(spec.request), "base64").toString("latin1"),
      );
    } catch (error) {
      if (!isPkiError(error)) throw error;
      return await this.#refuse(found, "InvalidRequest", error.message);
    }
    const { identity, publicKey, trustDomain } = asked;
    if (trustDomain !== authority.trustDomain) {
      const message = `the trust domain is ${authority.trustDomain}, not ${trustDomain}`;
      return await this.#refuse(found, "WrongTrustDomain", message);
    }
    const other = (spec.usages ?? []).find((usage) => !usages.includes(usage));
    if (other !== undefined) {
      const message = `the usage ${JSON.stringify(other)} is not allowed; request ${usages.join(", ")}`;
      return await this.#refuse(found, "WrongUsage", message);
    }
    const migration = await this.#migration(found, identity);
    const refusal = judgeRequest(identity, spec, { accounts, migration });
    if (refusal) return await this.#refuse(found, refusal.reason, refusal.message);
    await this.#sign(found, publicKey, identity);
  }

  /** Live: a cache may describe a migration that has ended. */
  async #migration(
    { metadata }: SigningRequest,
    { role }: Identity,
  ): Promise<MigrationFacts | undefined> {
    const { client, names } = this.#options;
    const hint = metadata.annotations?.[certificateNames(names).migration];
    const [, namespace, name] = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/.exec(hint ?? "") ?? [];
    if (role !== "migration" || !namespace || !name) return undefined;
    const resources = serverResources(names);
    const absent = (error: unknown): undefined => {
      if (isNotFound(error)) return undefined;
      throw error;
    };
    const migration = await client
      .get(resources.virtualmachineinstancemigrations, { namespace, name })
      .catch(absent);
    const vmiName = text(at(migration, "spec", "vmiName"));
    const vmi = vmiName
      ? await client
          .get(resources.virtualmachineinstances, { namespace, name: vmiName })
          .catch(absent)
      : undefined;
    return { migration, vmi };
  }

  async #sign(found: SigningRequest, publicKey: string, identity: Identity): Promise<void> {
    const { authority, client, log, metrics } = this.#options;
    const resource = otherResources.signingRequests;
    const who = describeIdentity(identity);
    // The holder of the certificate must find its CA in the bundle.
    await this.#publish();
    const certificate = await authority.sign(publicKey, identity);
    const approved = hasCondition(found, "Approved")
      ? found
      : await client.update(
          resource,
          withCondition(found, "Approved", "IdentityChecked", `the requester may be ${who}`),
          { subresource: "approval" },
        );
    const status = {
      ...(approved as SigningRequest).status,
      certificate: Buffer.from(certificate).toString("base64"),
    };
    await client.update(resource, { ...approved, status } as KubeObject, { subresource: "status" });
    metrics?.count("api_server_certificate_requests", { outcome: "signed" });
    log?.info({ request: found.metadata.name, identity: who }, "a certificate was signed");
  }

  async #refuse(found: SigningRequest, reason: string, message: string): Promise<void> {
    const { client, log, metrics } = this.#options;
    // Somebody else may have approved it, which changes nobody's identity.
    const type = hasCondition(found, "Approved") ? "Failed" : "Denied";
    const subresource = type === "Failed" ? "status" : "approval";
    const refused = withCondition(found, type, reason, message);
    await client.update(otherResources.signingRequests, refused, { subresource });
    metrics?.count("api_server_certificate_requests", { outcome: "refused" });
    const { username } = found.spec ?? {};
    log?.warn(
      { request: found.metadata.name, username, reason },
      `a certificate request was denied: ${message}`,
    );
  }
}

function conditionsOf({ status }: SigningRequest): readonly Readonly<Record<string, unknown>>[] {
  return objects(at(status, "conditions"));
}

function hasCondition(request: SigningRequest, type: string): boolean {
  return conditionsOf(request).some((each) => each["type"] === type);
}

function isAnswered(request: SigningRequest): boolean {
  return (
    text(at(request.status, "certificate")) !== "" ||
    hasCondition(request, "Denied") ||
    hasCondition(request, "Failed")
  );
}

function withCondition(
  request: SigningRequest,
  type: string,
  reason: string,
  message: string,
): SigningRequest {
  const condition = { type, status: "True", reason, message };
  return {
    ...request,
    status: { ...request.status, conditions: [...conditionsOf(request), condition] },
  };
}
