import { type Claim, decide, encodeGrant, type Holder } from "@virtkit/api/grant";
import { MayRun } from "@virtkit/domain-manager";
import type { MigrationReport, MigrationVerbs } from "../migration/migration-verbs.ts";
import type { MemoryGrantStore } from "./memory-grant-store.ts";

/** What an agent follows. */
export interface FollowedSide {
  readonly client: MigrationVerbs;
  readonly reports: MigrationReport[];
}

/** What a node agent does: it follows, and decides for itself what it writes into the grant. */
export async function followAsAgent(
  { client, reports }: FollowedSide,
  store: MemoryGrantStore,
  { migrationUID, holder }: { readonly migrationUID: string; readonly holder: Holder },
): Promise<MigrationReport> {
  for (let after = 0; ; ) {
    const report = await client.followMigration({ migrationUID, after });
    reports.push(report);
    after = report.revision;
    if (report.decision) {
      const decision = { migrationUID, outcome: report.decision };
      const verdict = decide(store.grant, { kind: "decided", decision });
      if ("grant" in verdict) store.grant = verdict.grant;
    }
    if (report.claims) {
      const evidence = evidenceOf(report.claims, migrationUID);
      await client.noteClaim({
        migrationUID,
        mayRun: await MayRun.claim(store, { holder, evidence }),
      });
    }
    if (report.settled) return report;
    if (report.asksGrant || report.decision) {
      await client.noteGrant({ migrationUID, grant: encodeGrant(store.grant) });
    }
  }
}

function evidenceOf(
  claims: NonNullable<MigrationReport["claims"]>,
  migrationUID: string,
): Claim["evidence"] {
  return claims === "postCopyComplete" ? claims : { migrationUID, outcome: "released" };
}
