import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, realClock } from "@virtkit/api/clock";
import type { Handover, Holder } from "@virtkit/api/grant";
import { parseDomain } from "@virtkit/converter";
import type { WantedGuest } from "@virtkit/domain-manager";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import { onTestFinished } from "vitest";
import type { LauncherClient } from "../client/launcher-client.ts";
import { LauncherMigrations } from "../migration/launcher-migrations.ts";
import type { MigrateRequest, MigrationReport } from "../migration/migration-verbs.ts";
import { servedGuest } from "./channel-fixture.ts";
import { MemoryGrantStore } from "./memory-grant-store.ts";
import { MovingLibvirt } from "./moving-libvirt.ts";

/** The migration of the tests of {@link LauncherMigrations}. */
export const migration: MigrationIdentity = {
  migrationUID: "m-1",
  vmiUID: "vmi-1",
  epoch: 1,
  seq: 3,
};
export const migrationUID: string = migration.migrationUID;
export const vmi: WantedGuest["vmi"] = {
  metadata: { name: "demo", namespace: "default", uid: "vmi-1" },
  spec: { domain: { devices: {} } },
  status: { migrationState: { migrationUid: "m-1" } },
};
export const options: MigrateRequest["options"] = {
  ...{ bandwidth: "0", progressTimeout: 150, completionTimeoutPerGiB: 150, maxDowntimeMs: 300 },
  ...{ unsafe: false, allowAutoConverge: false, allowPostCopy: false },
  allowWorkloadDisruption: false,
};
/** The incarnations of both sides. */
const [from, to] = ["a", "b"].map(
  (name): Holder => ({
    ...{ podUID: `pod-${name}`, containerID: name, nonce: name },
    ...{ node: name, machineID: name, bootID: name },
  }),
) as [Holder, Holder];

export { from, to };

const handingOver: Handover = { ...migration, state: "HandingOver", holder: from, target: to };

/** A launcher that takes part, and its libvirt. */
export interface Side {
  /** Where it keeps what it has decided. */
  readonly directory: string;
  readonly client: LauncherClient;
  readonly libvirt: MovingLibvirt;
  readonly reports: MigrationReport[];
  /** What it waits for. */
  readonly timers: ReadonlySet<unknown>;
  /** The same launcher after a restart: another process with the same files and the same libvirt. */
  restart(): Promise<Side>;
}

/** A launcher that is served over its channel, as for a node agent. */
async function side(libvirt: MovingLibvirt): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-migrations-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return await launcherIn(directory, libvirt);
}

async function launcherIn(directory: string, libvirt: MovingLibvirt): Promise<Side> {
  const timers = new Set<unknown>();
  const clock: Clock = {
    now: () => realClock.now(),
    setTimeout(callback, milliseconds) {
      const fire = (): void => {
        timers.delete(timer);
        callback();
      };
      const timer = realClock.setTimeout(fire, milliseconds);
      timers.add(timer);
      return timer;
    },
    clearTimeout(timer) {
      timers.delete(timer);
      realClock.clearTimeout(timer);
    },
  };
  const migrations = new LauncherMigrations({
    ...{ vmiUID: "vmi-1", domain: "default_demo", directory, clock },
    connect: async () => await libvirt.connect(),
    prepareGuest: async () => ({
      domain: parseDomain(libvirt.xml),
      complete: async () => {},
    }),
  });
  await migrations.resume();
  const end = async (): Promise<void> => await migrations[Symbol.asyncDispose]();
  onTestFinished(end);
  const { client } = await servedGuest({ migrations });
  const restart = async (): Promise<Side> => {
    await end();
    return await launcherIn(directory, libvirt);
  };
  return { directory, client, libvirt, reports: [], timers, restart };
}

/** The node agent of the target claims for it. */
export const following: { readonly migrationUID: string; readonly holder: Holder } = {
  migrationUID,
  holder: to,
};

/** Both sides of a migration, and the grant that their node agents write. */
export interface Both {
  readonly source: Side;
  readonly target: Side;
  readonly store: MemoryGrantStore;
  start(): Promise<void>;
}

/** Starts the launchers of both sides. */
export async function both(): Promise<Both> {
  const [source, target] = await Promise.all([
    side(new MovingLibvirt("running")),
    side(new MovingLibvirt("shutoff")),
  ]);
  const sockets = mkdtempSync(join(tmpdir(), "virtkit-sockets-"));
  onTestFinished(() => rmSync(sockets, { recursive: true }));
  const [s, t] = [join(sockets, "s"), join(sockets, "t")];
  const start = async (): Promise<void> => {
    await target.client.receiveMigration({
      ...{ migration, holder: to, domain: "5d307ca9-b3ef-428c-8861-06e72d69f223" },
      guest: { vmi, context: {} as WantedGuest["context"] },
      ...{ listen: "unix:///in", serve: t, peer: s },
    });
    await source.client.migrate({
      ...{ migration, holder: from, vmi, options },
      ...{ serve: s, peer: t },
    });
  };
  return { source, target, store: new MemoryGrantStore(handingOver), start };
}
