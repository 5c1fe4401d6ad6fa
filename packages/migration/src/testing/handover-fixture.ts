import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Grant, Handover, Holder } from "@virtkit/api/grant";
import type { GrantStore, StoredGrant } from "@virtkit/domain-manager";
import type { MigrationIdentity } from "../handover/index.ts";

/** The handover that unit tests are about. */
export const migration: MigrationIdentity = {
  migrationUID: "m-1",
  vmiUID: "vmi-1",
  epoch: 1,
  seq: 3,
};

export const sourceHolder: Holder = holder("a");
export const targetHolder: Holder = holder("b");

function holder(name: string): Holder {
  return {
    ...{ podUID: `pod-${name}`, containerID: `container-${name}`, nonce: `nonce-${name}` },
    ...{ node: name, machineID: `machine-${name}`, bootID: `boot-${name}` },
  };
}

export const handingOver: Handover = {
  ...migration,
  state: "HandingOver",
  holder: sourceHolder,
  target: targetHolder,
};

/** A grant in memory; `down` while it cannot be reached. */
export class MemoryGrantStore implements GrantStore<number> {
  grant: Grant = handingOver;
  down = false;
  #version = 0;

  async read(): Promise<StoredGrant<number>> {
    if (this.down) throw new Error("the API server cannot be reached");
    return { grant: this.grant, version: this.#version };
  }

  async swap({ version }: StoredGrant<number>, next: Grant): Promise<boolean> {
    if (this.down) throw new Error("the API server cannot be reached");
    if (version !== this.#version) return false;
    this.#version++;
    this.grant = next;
    return true;
  }
}

/** A directory that is gone when the callback of `afterEach` has run. */
export function temporaryDirectory(afterEach: (clean: () => void) => void): () => string {
  let directory: string | undefined;
  afterEach(() => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    directory = undefined;
  });
  return () => {
    directory ??= mkdtempSync(join(tmpdir(), "virtkit-handover-"));
    return directory;
  };
}
