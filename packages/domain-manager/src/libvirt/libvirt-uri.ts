import { homedir } from "node:os";
import { join } from "node:path";
import { LibvirtError } from "./libvirt-error.ts";

/** How to reach a libvirtd, and what to open there. */
export interface LibvirtTarget {
  /** The URI that the daemon opens: without transport, host and our own parameters. */
  readonly name: string;
  readonly endpoint: LibvirtEndpoint;
}

/** Where a libvirtd listens. */
export type LibvirtEndpoint =
  /** The first path that has a socket is used. */
  | { readonly transport: "unix"; readonly paths: readonly string[] }
  | { readonly transport: "tcp"; readonly host: string; readonly port: number }
  | {
      readonly transport: "tls";
      readonly host: string;
      readonly port: number;
      readonly verify: boolean;
      /** Paths of the CA's certificate, the client's certificate and its key. */
      readonly files: { readonly ca: string; readonly certificate: string; readonly key: string };
    };

/** What the lookup of default paths depends on. */
export interface UriEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  readonly home: string;
}

/** Parameters for the client, which are not passed on. */
const ownParameters = ["socket", "mode", "pkipath", "no_verify"];

/**
 * Reads a libvirt connection URI: `driver[+transport]://[host][:port]/path[?parameters]`.
 *
 * Without a host the transport is `unix`, with one it is `tls`, as in libvirt. `tcp` neither
 * encrypts nor authenticates. What needs another program, such as `ssh`, is refused.
 */
export function parseLibvirtUri(
  uri: string,
  environment: UriEnvironment = processEnvironment(),
): LibvirtTarget {
  const match = /^([a-z0-9]+)(?:\+([a-z0-9]+))?:\/\/(\/.*|[^/].*)$/i.exec(uri);
  if (!match) throw invalid(uri, "a libvirt URI looks like qemu:///system");
  const [, driver = "", given, rest = ""] = match;
  const url = parseRest(uri, rest);
  const transport = given ?? (url.hostname === "" ? "unix" : "tls");
  const parameters = new URLSearchParams(url.search);
  const endpoint = endpointOf(uri, transport, driver, url, environment);
  for (const own of ownParameters) parameters.delete(own);
  const query = parameters.size > 0 ? `?${parameters}` : "";
  return { name: `${driver}://${url.pathname}${query}`, endpoint };
}

function parseRest(uri: string, rest: string): URL {
  try {
    // A scheme for which a host may be absent and stays unchanged.
    return new URL(`libvirt://${rest}`);
  } catch (cause) {
    throw invalid(uri, "host, port or path cannot be read", cause);
  }
}

function endpointOf(
  uri: string,
  transport: string,
  driver: string,
  url: URL,
  environment: UriEnvironment,
): LibvirtEndpoint {
  const { searchParams } = url;
  // An IPv6 address is in brackets in a URL and without them in a socket call.
  const host = url.hostname.replace(/^\[|\]$/g, "") || "localhost";
  switch (transport) {
    case "unix": {
      const socket = searchParams.get("socket");
      const session = url.pathname === "/session";
      return {
        transport,
        paths: socket ? [socket] : defaultSockets(driver, session, environment),
      };
    }
    case "tcp":
      return { transport, host, port: Number(url.port || 16509) };
    case "tls":
      return {
        transport,
        host,
        port: Number(url.port || 16514),
        verify: (searchParams.get("no_verify") ?? "0") === "0",
        files: tlsFiles(searchParams.get("pkipath"), environment),
      };
    default:
      throw invalid(uri, `the transport "${transport}" is not one of unix, tcp and tls`);
  }
}

/** The daemon of this driver, as newer distributions have it, before the one for all drivers. */
function defaultSockets(driver: string, session: boolean, { env, home }: UriEnvironment): string[] {
  const runtime = env["XDG_RUNTIME_DIR"] ?? join(home, ".cache");
  const directory = session ? join(runtime, "libvirt") : "/run/libvirt";
  return [`virt${driver}d-sock`, "libvirt-sock"].map((name) => join(directory, name));
}

function tlsFiles(
  pkipath: string | null,
  { uid, home }: UriEnvironment,
): { ca: string; certificate: string; key: string } {
  const flat = pkipath ?? (uid === 0 ? undefined : join(home, ".pki/libvirt"));
  if (flat !== undefined) {
    return {
      ca: join(flat, "cacert.pem"),
      certificate: join(flat, "clientcert.pem"),
      key: join(flat, "clientkey.pem"),
    };
  }
  return {
    ca: "/etc/pki/CA/cacert.pem",
    certificate: "/etc/pki/libvirt/clientcert.pem",
    key: "/etc/pki/libvirt/private/clientkey.pem",
  };
}

function processEnvironment(): UriEnvironment {
  return { env: process.env, uid: process.getuid?.() ?? 0, home: homedir() };
}

function invalid(uri: string, hint: string, cause?: unknown): LibvirtError {
  const text = `the URI ${JSON.stringify(uri)} cannot be used: ${hint}`;
  return new LibvirtError("LIBVIRT_ARGUMENT", text, { path: "uri", cause });
}
