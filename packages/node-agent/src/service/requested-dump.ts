import { isDomainManagerError } from "@virtkit/domain-manager";
import type { EndedDump } from "./guest-record.ts";

/** What a {@link RequestedDump} works with. */
export interface DumpRequest {
  /** As the launcher sees it. */
  readonly path: string;
  /** Asks the launcher, which answers once the memory is written. */
  readonly ask: () => Promise<void>;
  /** The time as objects write it. */
  readonly time: () => string;
  /** Called when there is an answer, or none to come. */
  readonly onEnd: () => void;
}

/**
 * A dump of a guest's memory that its launcher was asked for. It takes minutes, and no pass waits for it: meanwhile the
 * VMI may be deleted, for example.
 */
export class RequestedDump {
  readonly path: string;
  #ended: EndedDump | undefined;
  #lost: Error | undefined;

  constructor({ path, ask, time, onEnd }: DumpRequest) {
    this.path = path;
    const startTimestamp = time();
    const end = (failure: Partial<EndedDump> = {}): void => {
      this.#ended = { path, startTimestamp, endTimestamp: time(), ...failure };
    };
    void ask()
      .then(
        () => end(),
        (error: unknown) => {
          const { message } = error instanceof Error ? error : new Error(String(error));
          if (isDomainManagerError(error)) end({ failureReason: message.slice(0, 1_024) });
          else this.#lost = error instanceof Error ? error : new Error(message);
        },
      )
      .finally(onEnd);
  }

  /** Why there will be no answer. The dump may go on, and whoever asks again joins it. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Undefined while the memory is being written. */
  get ended(): EndedDump | undefined {
    return this.#ended;
  }
}
