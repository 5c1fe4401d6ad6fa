import { DomainManagerError } from "@virtkit/domain-manager";

interface Dump {
  readonly path: string;
  readonly outcome: Promise<void>;
  isOver: boolean;
}

/**
 * Dumps of a guest's memory as jobs of its launcher. A dump pauses the guest, takes minutes, and outlives its caller: a
 * node agent that is restarted asks again. A file names its dump, so a request for the same file joins the dump, or gets
 * the outcome of the last one, and the guest is not paused twice for it.
 */
export class MemoryDumps {
  readonly #write: (path: string) => Promise<void>;
  #last: Dump | undefined;

  /** @param write writes the memory to a file; it has its own deadline. */
  constructor(write: (path: string) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves once the memory is written to the file. The signal ends the wait, not the dump. */
  async dump(path: string, signal?: AbortSignal): Promise<void> {
    // A dump to another file begins only if somebody still waits for it then.
    while (this.#last && !this.#last.isOver && this.#last.path !== path) {
      // Its failure is for those who asked for it; here it only has to end.
      const isOver = this.#last.outcome.catch(() => {});
      await unlessAborted(isOver, signal);
    }
    signal?.throwIfAborted();
    if (this.#last?.path !== path) this.#last = this.#begin(path);
    await unlessAborted(this.#last.outcome, signal);
  }

  #begin(path: string): Dump {
    const outcome = this.#write(path);
    const dump: Dump = { path, outcome, isOver: false };
    const end = (): void => {
      dump.isOver = true;
    };
    // Perhaps nobody waits for it any more.
    outcome.then(end, end);
    return dump;
  }
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return await work;
  await new Promise<void>((resolve, reject) => {
    const message = "memoryDump: the caller gave up; the memory is still being written";
    const onAbort = (): void => {
      const cause: unknown = signal.reason;
      reject(new DomainManagerError("DOMAIN_TIMEOUT", message, { path: "memoryDump", cause }));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
