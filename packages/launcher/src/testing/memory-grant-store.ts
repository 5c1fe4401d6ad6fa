import type { Grant } from "@virtkit/api/grant";
import type { GrantStore, StoredGrant } from "@virtkit/domain-manager";

/** A run grant in memory, as an API server has it: a swap of what was read, or none. */
export class MemoryGrantStore implements GrantStore<Grant> {
  grant: Grant;

  constructor(grant: Grant) {
    this.grant = grant;
  }

  async read(): Promise<StoredGrant<Grant>> {
    return { grant: this.grant, version: this.grant };
  }

  async swap({ version }: StoredGrant<Grant>, next: Grant): Promise<boolean> {
    if (version !== this.grant) return false;
    this.grant = next;
    return true;
  }
}
