import type { Agent } from "node:http";

/** How the client authenticates itself, and how it verifies the server. */
export interface Credentials {
  /** Sent with each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly tls?: TlsSettings | undefined;
  /** Opens the connections, for example through a proxy. By default they go straight to the server and are reused. */
  readonly agent?: Agent | undefined;
}

/** TLS settings, under Node's names. */
export interface TlsSettings {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

/** The address of a server, and the credentials for it. */
export interface Connection {
  /** `https://host:port`, maybe with a path. */
  readonly server: string;
  /** Asked again when `credentialsLifetime` is over, and after the server has answered 401. */
  credentials(): Promise<Credentials>;
  /** Milliseconds. By default forever. */
  readonly credentialsLifetime?: number | undefined;
}
