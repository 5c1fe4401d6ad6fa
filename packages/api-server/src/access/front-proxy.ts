import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { at, text } from "@virtkit/api/shape";
import { defaultIdentityHeaders, type IdentityHeaders } from "@virtkit/api/subresources/server";
import { ApiServerError } from "../api-server-error.ts";

/** Who may speak for users: what the ConfigMap `extension-apiserver-authentication` says. */
export interface FrontProxy {
  /** CAs of its certificate, as PEM. */
  readonly authorities: string;
  /** Common names that its certificate may have; empty means any. */
  readonly allowedNames: readonly string[];
  readonly headers: IdentityHeaders;
}

/** Reads that ConfigMap. Without a CA there is no front proxy, and all requests are rejected. */
export function readFrontProxy(configMap: unknown): FrontProxy {
  const data = at(configMap, "data");
  const authorities = text(at(data, "requestheader-client-ca-file"));
  if (!authorities.includes("-----BEGIN CERTIFICATE-----")) {
    const message =
      "requestheader-client-ca-file of the ConfigMap extension-apiserver-authentication has no certificate; start kube-apiserver with --requestheader-client-ca-file";
    throw new ApiServerError("API_SERVER_FRONT_PROXY_UNKNOWN", message);
  }
  const list = (key: string, fallback: readonly string[]): readonly string[] => {
    const value = text(at(data, key));
    return value === "" ? fallback : strings(value, key);
  };
  return {
    authorities,
    allowedNames: list("requestheader-allowed-names", []),
    headers: {
      user: list("requestheader-username-headers", defaultIdentityHeaders.user),
      uid: list("requestheader-uid-headers", defaultIdentityHeaders.uid),
      group: list("requestheader-group-headers", defaultIdentityHeaders.group),
      extraPrefix: list("requestheader-extra-headers-prefix", defaultIdentityHeaders.extraPrefix),
    },
  };
}

function strings(value: string, key: string): readonly string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch (cause) {
    parsed = cause;
  }
  if (Array.isArray(parsed) && parsed.every((item) => typeof item === "string")) return parsed;
  const message = `${key} of the ConfigMap extension-apiserver-authentication must be a list of strings`;
  throw new ApiServerError("API_SERVER_FRONT_PROXY_UNKNOWN", message);
}

/**
 * Why a connection is not the front proxy's; `undefined` if it is. TLS has checked the certificate against the CAs
 * of that time; it must also be issued by a current CA, be valid now, be for clients, and have an allowed name.
 */
export function frontProxyFault(
  socket: Pick<TLSSocket, "authorized" | "getPeerX509Certificate">,
  { authorities, allowedNames }: FrontProxy,
  now: Date,
): string | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return "the connection has no certificate";
  if (!socket.authorized) return "the certificate of the connection is not trusted";
  if (!certificates(authorities).some((authority) => isIssuedBy(certificate, authority))) {
    return "the certificate of the connection was not issued by a CA of the front proxy";
  }
  if (new Date(certificate.validFrom) > now || new Date(certificate.validTo) < now) {
    return "the certificate of the connection is not valid at this time";
  }
  const usages = certificate.keyUsage as readonly string[] | undefined;
  if (usages && !usages.includes(clientAuthentication)) {
    return "the certificate of the connection is not for clients";
  }
  if (allowedNames.length === 0) return undefined;
  const name = commonName(certificate);
  return name !== undefined && allowedNames.includes(name)
    ? undefined
    : `the name in the certificate of the connection is ${JSON.stringify(name?.slice(0, 100) ?? "")}, which may not speak for users`;
}

/** Extended key usage `clientAuth`; Node calls this list `keyUsage`. */
const clientAuthentication = "1.3.6.1.5.5.7.3.2";

/** The only common name; with several, readers could disagree. */
function commonName({ subject }: X509Certificate): string | undefined {
  const names = (subject ?? "").split("\n").filter((part) => part.startsWith("CN="));
  return names.length === 1 ? names[0]?.slice(3) : undefined;
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

const parsed = new Map<string, readonly X509Certificate[]>();

/** The last bundle is cached, because every request asks for it. */
function certificates(bundle: string): readonly X509Certificate[] {
  const known = parsed.get(bundle);
  if (known) return known;
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const read = blocks.map((block) => new X509Certificate(block));
  parsed.clear();
  parsed.set(bundle, read);
  return read;
}
