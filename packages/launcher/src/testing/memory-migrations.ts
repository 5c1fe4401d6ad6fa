import type { MigrationReport, MigrationVerbs } from "../migration/migration-verbs.ts";

/** A launcher's side of migrations that moves nothing: it notes what it is asked, and answers always the same. */
export class MemoryMigrations implements MigrationVerbs {
  /** What was asked, with its arguments as they arrived. */
  readonly asked: { readonly verb: string; readonly args: unknown }[] = [];

  async migrate(args: unknown): Promise<void> {
    this.#note("migrate", args);
  }

  async measureGuest(args: unknown): ReturnType<MigrationVerbs["measureGuest"]> {
    this.#note("measureGuest", args);
    return { memoryBytes: 4_096, usedBytes: 2_048, diskBytes: 512, dirtyBytesPerSecond: 10.5 };
  }

  async receiveMigration(args: unknown): Promise<void> {
    this.#note("receiveMigration", args);
  }

  async followMigration(
    args: Parameters<MigrationVerbs["followMigration"]>[0],
  ): Promise<MigrationReport> {
    this.#note("followMigration", args);
    return args.after === undefined ? sourceReport : targetReport;
  }

  async cancelMigration(args: unknown): Promise<void> {
    this.#note("cancelMigration", args);
  }

  async switchToPostCopy(args: unknown): Promise<void> {
    this.#note("switchToPostCopy", args);
  }

  async releaseMigration(args: unknown): Promise<void> {
    this.#note("releaseMigration", args);
  }

  async migrationDecision(args: unknown): ReturnType<MigrationVerbs["migrationDecision"]> {
    this.#note("migrationDecision", args);
    return { migrationUID: "m-1", outcome: "released" };
  }

  async noteGrant(args: unknown): Promise<void> {
    this.#note("noteGrant", args);
  }

  async noteClaim({
    migrationUID,
    mayRun,
  }: Parameters<MigrationVerbs["noteClaim"]>[0]): Promise<void> {
    this.#note("noteClaim", { migrationUID, mayRun: mayRun.grant });
  }

  #note(verb: string, args: unknown): void {
    this.asked.push({ verb, args: JSON.parse(JSON.stringify(args)) });
  }
}

const sourceReport: MigrationReport = {
  ...{ migrationUID: "m-1", role: "source", revision: 7, step: "perform.before" },
  times: { "begin.before": 1_000, "perform.before": 2_000.5 },
  progress: {
    ...{ phase: "memory", mode: "PreCopy", elapsedMs: 900, total: 4_096, transferred: 1_024 },
    ...{ remaining: 3_072, bytesPerSecond: 100.5, momentaryBytesPerSecond: 90 },
    ...{ dirtyBytesPerSecond: 10, iteration: 2, remainingAtStart: 4_096 },
    ...{ throttlePercent: 20, isStale: false, expectedDowntimeMs: 30, expectedEndMs: 60_000 },
    disks: [{ target: "vda", total: 512, remaining: 256 }],
  },
  asksGrant: true,
};

const targetReport: MigrationReport = {
  ...{ migrationUID: "m-1", role: "target", revision: 9, step: "settled" },
  ...{ stoodStillMs: 137.25, decision: "released", claims: "released", asksGrant: false },
  ...{ outcome: "runs", settled: "runs", why: "the source has released it" },
};
