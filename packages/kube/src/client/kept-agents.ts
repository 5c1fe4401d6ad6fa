import { type Agent, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { TlsSettings } from "./connection.ts";
import { KeptConnections, probeMilliseconds } from "./kept-connections.ts";

/** Connections of one server under one set of certificates. */
interface Agents {
  readonly requests: KeptConnections;
  /** Watches have connections of their own, and as many as they need. */
  readonly watches: Agent;
}

/** Keeps connections open between requests, for as long as the client is known by the same certificate. */
export class KeptAgents {
  readonly #server: { readonly host: string; readonly port: number; readonly isSecure: boolean };
  #tls: TlsSettings | undefined;
  #agents: Agents | undefined;

  constructor(server: {
    readonly host: string;
    readonly port: number;
    readonly isSecure: boolean;
  }) {
    this.#server = server;
  }

  get(tls: TlsSettings): Agents {
    if (this.#agents && this.#tls && isSame(this.#tls, tls)) return this.#agents;
    this.close();
    this.#tls = tls;
    this.#agents = this.#make(tls);
    return this.#agents;
  }

  /** Closes connections that are idle, and others after their request. */
  close(): void {
    const { requests, watches } = this.#agents ?? {};
    this.#agents = undefined;
    requests?.close();
    if (watches === undefined) return;
    for (const sockets of Object.values(watches.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    watches.maxFreeSockets = 0;
  }

  #make(tls: TlsSettings): Agents {
    const { host, port, isSecure } = this.#server;
    const options = { keepAlive: true, timeout: probeMilliseconds, scheduling: "lifo" } as const;
    return {
      requests: new KeptConnections({ host, port, ...(isSecure && { tls }) }),
      watches: isSecure ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options),
    };
  }
}

function isSame(one: TlsSettings, other: TlsSettings): boolean {
  // Credentials that were not read again, which is nearly always.
  if (one === other) return true;
  return (
    one.servername === other.servername &&
    one.rejectUnauthorized === other.rejectUnauthorized &&
    String(one.ca) === String(other.ca) &&
    String(one.cert) === String(other.cert) &&
    String(one.key) === String(other.key)
  );
}
