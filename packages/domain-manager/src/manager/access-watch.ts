import { createHash } from "node:crypto";
import { type Clock, sleep } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { AccessAgent } from "../disks/access/access-agent.ts";
import { type AccessResult, applyAccess } from "../disks/access/apply-access.ts";
import { planAccess } from "../disks/access/plan-access.ts";
import { agentSecretNames } from "../disks/mounted-secret-names.ts";
import type { MountedSecrets } from "../disks/mounted-secrets.ts";

/**
 * Milliseconds between two checks of the mounted Secrets, and after which the guest is updated anyway.
 */
const checkInterval = 15_000;
const resyncInterval = 300_000;

/** How {@link AccessWatch} works. */
export interface AccessWatchOptions {
  /** Reads mounted Secrets by the names of their directories. */
  readonly readSecrets: (names: readonly string[]) => Promise<MountedSecrets>;
  readonly agent: () => Promise<AccessAgent>;
  /** Called for every attempt with another outcome than the one before. */
  readonly onResult: (result: AccessResult) => void;
  readonly clock: Clock;
}

/**
 * Brings SSH keys and passwords into a guest through its agent: at first, whenever the mounted
 * Secrets or the VMI change, and every five minutes, because the guest may have changed them. After
 * a failure it tries again at the next check.
 */
export class AccessWatch {
  readonly #options: AccessWatchOptions;
  #vmi: VirtualMachineInstance | undefined;
  #running: AbortController | undefined;
  /** What was last applied to the guest successfully, and when. */
  #told: { readonly digest: string; readonly at: number } | undefined;
  #last: AccessResult | undefined;

  constructor(options: AccessWatchOptions) {
    this.#options = options;
  }

  /** Takes the credentials of a VMI; begins to watch if it has any that go through the agent. */
  follow(vmi: VirtualMachineInstance): void {
    this.#vmi = vmi;
    if (agentSecretNames(vmi).length === 0) {
      this.stop();
      return;
    }
    if (this.#running) return;
    this.#running = new AbortController();
    void this.#watch(this.#running.signal);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#check();
      await sleep(clock, checkInterval, signal);
    }
  }

  async #check(): Promise<void> {
    const vmi = this.#vmi;
    if (!vmi) return;
    const { clock, readSecrets, agent } = this.#options;
    try {
      const secrets = await readSecrets(agentSecretNames(vmi));
      const digest = digestOf(vmi, secrets);
      const told = this.#told;
      if (told?.digest === digest && clock.now() - told.at < resyncInterval) return;
      const result = await applyAccess(planAccess(vmi, secrets), await agent());
      this.#told = result.succeeded ? { digest, at: clock.now() } : undefined;
      this.#report(result);
    } catch (error) {
      // Errors of disk and domain contain no secrets.
      const message = error instanceof Error ? error.message : "the credentials cannot be read";
      this.#report({ succeeded: false, message });
    }
  }

  #report(result: AccessResult): void {
    const same =
      this.#last?.succeeded === result.succeeded && this.#last.message === result.message;
    if (same) return;
    this.#last = result;
    this.#options.onResult(result);
  }
}

/** Detects changes without keeping the secrets. */
function digestOf({ spec }: VirtualMachineInstance, secrets: MountedSecrets): string {
  const hash = createHash("sha256").update(JSON.stringify(spec.accessCredentials ?? []));
  for (const [directory, files] of secrets) {
    for (const [name, content] of files) {
      hash.update(`\0${directory}/${name}\0`).update(content.reveal());
    }
  }
  return hash.digest("base64");
}
