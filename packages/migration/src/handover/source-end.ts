import type { Decision, Outcome } from "@virtkit/api/grant";
import { isObject } from "@virtkit/api/shape";
import { MigrationError } from "../migration-error.ts";
import type { ControlCallOptions, ControlHandler } from "./control-link.ts";
import { DecisionFile } from "./decision-file.ts";
import { answerHello } from "./handover-version.ts";
import {
  assertSameMigration,
  checkIdentity,
  type MigrationIdentity,
} from "./migration-identity.ts";
import type { ControlCaller } from "./redialing-link.ts";

/** The source of a migration, as its target sees it. */
export interface SourceEnd {
  /** The decision; undefined while there is none. Rejects if nobody answers, which says nothing. */
  decision(
    migration: MigrationIdentity,
    options?: ControlCallOptions,
  ): Promise<Decision | undefined>;
}

const outcomes: readonly Outcome[] = ["released", "aborted", "committed", "returned"];

/** The source at the other end of a link. */
export function sourceOver(link: ControlCaller): SourceEnd {
  return {
    async decision(migration, options) {
      const answer = await link.call("decision", { migration }, options);
      const outcome = isObject(answer) ? answer["outcome"] : undefined;
      if (outcome === undefined) return undefined;
      const known = outcomes.find((each) => each === outcome);
      if (known) return { migrationUID: migration.migrationUID, outcome: known };
      throw new MigrationError("MIGRATION_PEER", "the source replied with an unknown decision");
    },
  };
}

/** Answers for a source from the files in `directory`, including those of an earlier process. */
export function serveSource(directory: string): ControlHandler {
  return async (method, params) => {
    if (method === "hello") return answerHello(params);
    if (method !== "decision") {
      throw new MigrationError("MIGRATION_INPUT_INVALID", "a source answers only to decision");
    }
    const asked = checkIdentity(isObject(params) ? params["migration"] : undefined, "migration");
    const file = new DecisionFile(directory, asked.migrationUID);
    const start = file.start();
    if (!start) {
      const message = `nothing on this disk says that the migration ${asked.migrationUID} began here`;
      throw new MigrationError("MIGRATION_REFUSED", message, { path: "begun-here" });
    }
    assertSameMigration(start, asked);
    return { outcome: file.decision()?.outcome };
  };
}
