import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { type Clock, realClock, until, wallTime } from "@virtkit/api/clock";
import { certificateNames, names as defaultNames, type Names } from "@virtkit/api/names";
import type { Observers } from "@virtkit/api/observe";
import { at, objects, text } from "@virtkit/api/shape";
import {
  defineResource,
  isAlreadyExists,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectName,
} from "@virtkit/kube";
import {
  type Credentials,
  createCertificateRequest,
  describeIdentity,
  type Identity,
  RenewedCredentials,
  readCertificate,
  verifyCertificate,
} from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";

/** Whose certificate to request, and from whom. */
export interface CertificateOptions extends Observers {
  /** Presents the token of this Pod, which names the Pod's node. */
  readonly client: KubeClient;
  /** Where the platform is installed. */
  readonly namespace: string;
  /** `nodeAgentIdentity(nodeName)`, or `migrationIdentity(uid, side)` for a node that takes part in it. */
  readonly identity: Identity;
  /** The VirtualMachineInstanceMigration; needed for the identity of a migration. */
  readonly migration?: ObjectName;
  /** Default `cluster.local`. */
  readonly trustDomain?: string;
  readonly names?: Names;
  /** Milliseconds to wait for an answer. Default one minute. */
  readonly timeout?: number;
  /** Milliseconds between checks of the CAs and of the certificate's expiry. Default 20 minutes. */
  readonly interval?: number;
  /** A certificate obtained before this is replaced at the next check. Default: none is. */
  readonly renewSince?: () => Date | undefined;
  readonly clock?: Clock;
  readonly now?: () => Date;
  readonly signal?: AbortSignal;
}

const signingRequests = defineResource({
  ...{ group: "certificates.k8s.io", version: "v1" },
  ...{ plural: "certificatesigningrequests", kind: "CertificateSigningRequest", namespaced: false },
});
const configMaps = defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" });

/**
 * Requests a certificate. The key is created in this process and never leaves it; the API server of VMs signs the
 * certificate if this Pod's node may have that identity. The certificate (with a new key) and the bundle of trusted CAs
 * are renewed in the background well before they expire; open connections stay open. Close the result when it is no
 * longer needed: at the end of the process or of the migration.
 *
 * @example
 * // The guest server of a node agent:
 * using credentials = await requestCertificate({ client, namespace, identity: nodeAgentIdentity(nodeName) });
 * await using server = await startGuestServer({ nodeName, credentials, findGuest });
 *
 * @example
 * // One side of a migration; `current` is what proxies and QEMU take:
 * const identity = migrationIdentity(uid, "target");
 * const migration = { namespace: "default", name: "move-1" };
 * using credentials = await requestCertificate({ client, namespace, identity, migration });
 * const proxy = await startTargetProxy({ uid, credentials: credentials.current, channels });
 *
 * @throws a `NodeAgentError`: `AGENT_CERTIFICATE` with the signer's reason if it refuses, `AGENT_TIMEOUT` if nobody answers
 */
export async function requestCertificate(options: CertificateOptions): Promise<RenewedCredentials> {
  const { log, metrics, clock = realClock, interval } = options;
  const { now = wallTime, renewSince } = options;
  let held: Held | undefined;
  return await RenewedCredentials.start({
    ...{ log, metrics, clock },
    ...(interval === undefined ? {} : { interval }),
    obtain: async () => {
      const authorities = await readBundle(options);
      const isGood =
        held &&
        now() < held.renewAt &&
        held.obtained >= (renewSince?.() ?? held.obtained) &&
        isTrusted(held.credentials, authorities, options);
      if (!held || !isGood) held = renewable(await ask(options), now());
      else if (held.credentials.authorities !== authorities) {
        held = { ...held, credentials: { ...held.credentials, authorities } };
      }
      return held.credentials;
    },
  });
}

interface Held {
  readonly credentials: Credentials;
  readonly obtained: Date;
  readonly renewAt: Date;
}

/** A third of its lifetime is left for attempts. */
function renewable(credentials: Credentials, now: Date): Held {
  const { expires } = readCertificate(credentials.certificate);
  const renewAt = new Date(now.getTime() + (expires.getTime() - now.getTime()) * (2 / 3));
  return { credentials, obtained: now, renewAt };
}

async function ask(options: CertificateOptions): Promise<Credentials> {
  const { client, identity, migration, names = defaultNames(), signal } = options;
  const { trustDomain = certificateNames(names).trustDomain, timeout = 60_000 } = options;
  const agreed = certificateNames(names);
  const { request, privateKey } = createCertificateRequest(trustDomain, identity);
  // From the key: nobody else can have this name, and a create whose answer was lost is found again.
  const digest = createHash("sha256").update(request).digest("hex").slice(0, 32);
  const name = `virtkit-${identity.role}-${digest}`;
  const annotations = migration && {
    [agreed.migration]: `${migration.namespace}/${migration.name}`,
  };
  const object = {
    metadata: { name, ...(annotations && { annotations }) },
    spec: {
      signerName: agreed.signer,
      request: Buffer.from(request).toString("base64"),
      usages: ["digital signature", "key encipherment", "server auth", "client auth"],
    },
  } as KubeObject;
  try {
    await client.create(signingRequests, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const credentials = await until(
    async () => {
      const answered = await client.get(signingRequests, { name }, { signal });
      const certificate = certificateIn(answered, identity);
      if (certificate === undefined) return undefined;
      const authorities = await readBundle(options);
      // A bundle that lags behind the signer is read again.
      const credentials = { certificate, privateKey, authorities };
      return isTrusted(credentials, authorities, options) && credentials;
    },
    { clock: options.clock, interval: 250, timeout, signal },
  );
  if (credentials && isKeyOf(credentials)) return credentials;
  const what = `the request ${name} for ${describeIdentity(identity)}`;
  if (credentials) throw refused(`${what} was answered with a certificate for another key`);
  const message = `${what} has no trusted answer after ${timeout} ms; check that virt-api runs, and read its log`;
  throw new NodeAgentError("AGENT_TIMEOUT", message, { path: "certificate" });
}

/** The certificate of an answered request; undefined while there is none. Throws if it is denied. */
function certificateIn(request: KubeObject, identity: Identity): string | undefined {
  for (const condition of objects(at(request, "status", "conditions"))) {
    const { type, reason, message } = condition;
    if (type !== "Denied" && type !== "Failed") continue;
    const who = describeIdentity(identity);
    throw refused(`no certificate for ${who}: ${text(message)} (${text(reason)})`);
  }
  const encoded = text(at(request, "status", "certificate"));
  return encoded === "" ? undefined : Buffer.from(encoded, "base64").toString();
}

async function readBundle(options: CertificateOptions): Promise<string> {
  const { client, namespace, names = defaultNames(), signal, clock } = options;
  const { timeout = 60_000 } = options;
  const { name, field } = certificateNames(names).bundle;
  const found = await until(
    async () => {
      try {
        const object = await client.get(configMaps, { namespace, name }, { signal });
        return text(at(object, "data", field)) || undefined;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    { clock, interval: 250, timeout, signal },
  );
  if (found !== undefined) return found;
  const message = `ConfigMap ${namespace}/${name} names no trusted CA after ${timeout} ms; check that virt-api runs`;
  throw new NodeAgentError("AGENT_TIMEOUT", message, { path: "certificate" });
}

function isTrusted(
  { certificate }: Credentials,
  authorities: string,
  options: CertificateOptions,
): boolean {
  const { identity, names = defaultNames(), now } = options;
  const { trustDomain = certificateNames(names).trustDomain } = options;
  try {
    const rules = { authorities, trustDomain, expected: identity, purpose: "server" } as const;
    verifyCertificate(certificate, { ...rules, ...(now && { now }) });
    return true;
  } catch {
    // The reason does not matter: another one is requested, or the bundle is read again.
    return false;
  }
}

function isKeyOf({ certificate, privateKey }: Credentials): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
}

function refused(message: string): NodeAgentError {
  return new NodeAgentError("AGENT_CERTIFICATE", message, { path: "certificate" });
}
