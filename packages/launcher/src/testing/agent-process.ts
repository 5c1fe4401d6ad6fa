import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Grant, Holder } from "@virtkit/api/grant";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { MigrationSide } from "@virtkit/pki";
import type { MigrationReport, ReceiveRequest } from "../migration/migration-verbs.ts";

const script = fileURLToPath(new URL("./agent-child.mjs", import.meta.url));

/** What a node agent needs to know about one migration. */
export interface AgentConfig {
  readonly side: MigrationSide;
  readonly node: string;
  readonly vmiUID: string;
  readonly migration: MigrationIdentity;
  /** Of its own side. */
  readonly holder: Holder;
  /** Socket of its launcher's channel. */
  readonly launcher: string;
  // biome-ignore lint/suspicious/noExplicitAny: it goes to another process as it is
  readonly credentials: any;
  readonly address: string;
  readonly sockets: Readonly<Record<string, string>> & {
    readonly [name in "serve" | "in" | "asks" | "peer" | "proxied" | "out" | "answers"]: string;
  };
  readonly receive: Pick<ReceiveRequest, "domain" | "guest">;
  /** It ends as soon as it sees this decision, before anybody else knows it. */
  readonly diesAtDecision?: string | undefined;
}

/** The API server, as far as agents need it. */
export class AgentApi {
  grant: Grant;
  vmi: VirtualMachineInstance;

  constructor(grant: Grant, vmi: VirtualMachineInstance) {
    this.grant = grant;
    this.vmi = vmi;
  }

  answer(what: string, value: unknown): unknown {
    switch (what) {
      case "grant":
        return this.grant;
      case "vmi":
        return this.vmi;
      case "swap": {
        const { version, next } = value as { version: number; next: Grant };
        if (!("seq" in this.grant) || this.grant.seq !== version) return false;
        this.grant = next;
        return true;
      }
      default: {
        const change = value as VirtualMachineInstanceMigrationState;
        const { status } = this.vmi;
        const migrationState = { ...status?.migrationState, ...change };
        this.vmi = { ...this.vmi, status: { ...status, migrationState } };
        return true;
      }
    }
  }
}

/** What an agent says: a question to the API server, the step that it plans, or how it ended. */
interface Told {
  readonly id?: number;
  readonly what?: string;
  readonly value?: unknown;
  readonly step?: string;
  readonly ended?: MigrationReport;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** A node agent that can be killed, in the network of its node; see `agent-child.mjs`. */
export class AgentProcess implements AsyncDisposable {
  readonly steps: string[] = [];
  /** How its launcher's part ended. */
  readonly ended: Promise<MigrationReport>;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;

  constructor(network: string, config: AgentConfig, api: AgentApi) {
    this.#child = spawn("nsenter", [`--net=${network}`, process.execPath, script], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#exit = once(this.#child, "exit");
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("message", (told) => {
        const { id, what = "", value, step, ended, error } = told as Told;
        if (id !== undefined) this.#send({ id, answer: api.answer(what, value) });
        if (step) this.steps.push(step);
        if (ended) resolve(ended);
        if (error) reject(Object.assign(new Error(error.message), { code: error.code }));
      });
      void this.#exit.then(() => reject(new Error("the agent has ended")));
    });
    // A test that kills it does not wait for it.
    this.ended.catch(() => {});
    this.#send({ start: config });
  }

  /** Resolves when it has ended, in whatever way. */
  get exited(): Promise<unknown> {
    return this.#exit;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL");
    }
    await this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #send(message: object): void {
    if (this.#child.connected) this.#child.send(message);
  }
}
