import { NodeAgentError } from "../../node-agent-error.ts";
import type { GuestRecord, GuestRecords } from "../../service/guest-record.ts";
import type { VersionMark } from "../../service/version-mark.ts";

/** What an agent keeps on its disk, which outlives its process. */
export class AgentDisk {
  readonly #records = new Map<string, GuestRecord>();
  #highest = 0;

  constructor(records: readonly GuestRecord[] = []) {
    for (const record of records) this.#records.set(record.podUid, record);
  }

  /** Its contents, to start another one with. */
  get content(): readonly GuestRecord[] {
    return [...this.#records.values()];
  }

  get records(): GuestRecords {
    return {
      write: (record: GuestRecord) => void this.#records.set(record.podUid, record),
      remove: (podUid: string) => void this.#records.delete(podUid),
      all: () => ({ records: [...this.#records.values()], problems: [] }),
    } as unknown as GuestRecords;
  }

  get mark(): VersionMark {
    return {
      check: (version: string) => {
        if (Number(version) >= this.#highest) return;
        throw new NodeAgentError(
          "AGENT_CLAIM_HELD",
          "the store is older than what the agent has seen",
        );
      },
      isNew: (version: string) => Number(version) > this.#highest,
      note: (version: string) => {
        this.#highest = Math.max(this.#highest, Number(version));
      },
    } as unknown as VersionMark;
  }
}
