import type { PeerCertificate, TLSSocket } from "node:tls";
import { wallTime } from "@virtkit/api/clock";
import type { Credentials } from "./credentials.ts";
import type { Expectation, Identity } from "./identity.ts";
import { PkiError } from "./pki-error.ts";
import { type Purpose, readCertificate } from "./read-certificate.ts";
import { verifyCertificate } from "./verify-certificate.ts";

/** What a peer's certificate is verified against, in addition to the expectation. */
export interface PeerOptions {
  /** For validity. OpenSSL checks it, too, by the host's own clock. */
  readonly now?: () => Date;
}

/** What both ends pass to TLS. */
export interface TlsCredentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly minVersion: "TLSv1.3";
  readonly rejectUnauthorized: true;
}

/**
 * For `tls.createServer` and `server.setSecureContext`: a client must show a certificate of the trust domain.
 * `peerIdentity` returns its identity; call it for every connection. Spread it and set `requestCert: false` for
 * a server that knows its clients by other means.
 */
export function serverTlsOptions(
  credentials: Credentials,
): TlsCredentials & { readonly requestCert: true } {
  return { ...tlsCredentials(credentials), requestCert: true };
}

/**
 * For `tls.connect`: shows the certificate, and continues only with a server that is as expected, whatever name
 * or address it was reached by. Do not add a `session`: Node checks no identity for a resumed one.
 */
export function clientTlsOptions(
  credentials: Credentials,
  expected: Expectation,
  options: PeerOptions = {},
): TlsCredentials & {
  readonly checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined;
} {
  const check = checkWith(credentials, expected, "server", options);
  return {
    ...tlsCredentials(credentials),
    checkServerIdentity: (_name, { raw }) => {
      try {
        check(raw);
        return undefined;
      } catch (error) {
        return error as Error;
      }
    },
  };
}

/**
 * The peer of a server: verifies the certificate that a client has shown. Throws a {@link PkiError} if it is
 * not as expected; then destroy the socket.
 */
export function peerIdentity(
  socket: TLSSocket,
  credentials: Credentials,
  expected: Expectation,
  options: PeerOptions = {},
): Identity {
  const { raw } = socket.getPeerCertificate() as { raw?: Buffer };
  if (!socket.authorized || !raw) {
    const message = "the client has not shown a trusted certificate";
    throw new PkiError("PKI_UNTRUSTED", message, { path: "certificate" });
  }
  return checkWith(credentials, expected, "client", options)(raw);
}

function checkWith(
  { certificate, authorities }: Credentials,
  expected: Expectation,
  purpose: Purpose,
  { now = wallTime }: PeerOptions,
): (raw: Uint8Array) => Identity {
  const { trustDomain } = readCertificate(certificate);
  return (raw) => verifyCertificate(raw, { authorities, trustDomain, expected, purpose, now });
}

function tlsCredentials({ certificate, privateKey, authorities }: Credentials): TlsCredentials {
  return {
    cert: certificate,
    key: privateKey,
    ca: authorities,
    minVersion: "TLSv1.3",
    rejectUnauthorized: true,
  };
}
