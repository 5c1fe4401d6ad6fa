import { type Agent, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { TlsSettings } from "./connection.ts";

/** Less than the 90 seconds after which an API server closes an idle connection under a request. */
const idleMilliseconds = 30_000;
/** Of requests; watches have connections of their own. */
const maxSockets = 64;

/** Keeps connections open between requests, for as long as the client is known by the same certificate. */
export class KeptAgents {
  readonly #isSecure: boolean;
  #tls: TlsSettings | undefined;
  #agents: { readonly requests: Agent; readonly watches: Agent } | undefined;

  constructor(isSecure: boolean) {
    this.#isSecure = isSecure;
  }

  get(tls: TlsSettings, kind: "requests" | "watches"): Agent {
    if (this.#agents === undefined || !isSame(this.#tls ?? {}, tls)) {
      this.close();
      this.#tls = tls;
      this.#agents = {
        requests: this.#make(tls, maxSockets),
        watches: this.#make(tls, Number.POSITIVE_INFINITY),
      };
    }
    return this.#agents[kind];
  }

  /** Closes connections that are idle, and others after their request. */
  close(): void {
    const { requests, watches } = this.#agents ?? {};
    this.#agents = undefined;
    for (const agent of [requests, watches]) {
      if (agent === undefined) continue;
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
      agent.maxFreeSockets = 0;
    }
  }

  #make(tls: TlsSettings, max: number): Agent {
    const options = {
      keepAlive: true,
      maxSockets: max,
      timeout: idleMilliseconds,
      scheduling: "lifo",
    } as const;
    return this.#isSecure ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options);
  }
}

function isSame(one: TlsSettings, other: TlsSettings): boolean {
  return (
    one.servername === other.servername &&
    one.rejectUnauthorized === other.rejectUnauthorized &&
    String(one.ca) === String(other.ca) &&
    String(one.cert) === String(other.cert) &&
    String(one.key) === String(other.key)
  );
}
