import type { Clock } from "@virtkit/api/clock";
import type { Holder } from "@virtkit/api/grant";
import { describeError, type Log } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { GrantStore } from "@virtkit/domain-manager";
import type { MigrationReport } from "@virtkit/launcher/client";
import type { Credentials } from "@virtkit/pki";
import { type FollowedSide as Followed, followSide } from "../move/follow-side.ts";
import { isUnknownMigration } from "../move/is-unknown-migration.ts";
import type { MovingClient } from "../service/node-host.ts";
import type { LauncherWord } from "./launcher-attempt.ts";
import type { MigrationWay } from "./migration-way.ts";

/** What {@link FollowedSide} works with. */
export interface FollowedSideOptions {
  readonly migrationUID: string;
  /** The incarnation of this side. */
  readonly holder: Holder;
  readonly store: GrantStore;
  /** About the end of the other side. */
  readonly proofs?: Followed["proofs"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Called when the launcher has reported something new; `isLost` if it stopped reporting before the end. */
  readonly onNews: (isLost: boolean) => void;
}

/**
 * One side of one migration on this node: its launcher's reports, which are written to the grant as they arrive,
 * and the connection to the other side. Everything it knows can be found out again, so it is not kept on disk.
 */
export class FollowedSide<Way extends MigrationWay = MigrationWay> implements AsyncDisposable {
  readonly migrationUID: string;
  way: Way | undefined;
  /** Since when, and why, the migration could not begin. */
  trouble: { readonly since: number; readonly why: string; readonly isFinal: boolean } | undefined;
  /** For a source: whether its progress could not be written to the VMI. */
  isUnnoted = false;
  /** For a source: why its post-copy is broken, as last reported in an event. */
  toldWhy: string | undefined;
  /** For a target: why this node can never receive the guest, so that the migration can only fail. */
  unfit: string | undefined;
  /** For a connection that is being opened: requested once, however often that is tried. */
  credentials: Credentials | undefined;
  /** For a source: when its credentials were requested; ms since 1970. */
  certifiedAt = 0;
  /** Since when its launcher, or its copy, is known to be dead; ms since 1970. */
  deadSince: number | undefined;
  readonly #options: FollowedSideOptions;
  readonly #stop = new AbortController();
  #word: LauncherWord | undefined;
  #following: Promise<void> | undefined;
  #isConcluded = false;

  constructor(options: FollowedSideOptions) {
    this.#options = options;
    this.migrationUID = options.migrationUID;
  }

  /** The launcher's last report; undefined while it does not answer. */
  get word(): LauncherWord | undefined {
    return this.#word;
  }

  /** Whether the launcher reported until the end. */
  get isConcluded(): boolean {
    return this.#isConcluded;
  }

  /** Asks the launcher for its state, and follows it from then on. */
  async look(client: MovingClient | undefined): Promise<LauncherWord | undefined> {
    if (this.#following || this.#isConcluded) return this.#word;
    this.#word = client && (await this.#ask(client));
    if (client && this.#word !== undefined && this.#word !== "unbegun") this.#follow(client);
    return this.#word;
  }

  async #ask(client: MovingClient): Promise<LauncherWord | undefined> {
    const { migrationUID, log } = this.#options;
    try {
      return await client.followMigration(
        { migrationUID, after: 0 },
        { signal: this.#stop.signal },
      );
    } catch (error) {
      if (isUnknownMigration(error)) return "unbegun";
      log.debug(
        { migrationUID, error: describeError(error) },
        "a launcher does not report its migration",
      );
      return undefined;
    }
  }

  #follow(client: MovingClient): void {
    const { migrationUID, holder, store, proofs, clock, random, log, onNews } = this.#options;
    const { signal } = this.#stop;
    let isLost = true;
    const hear = (report: MigrationReport): void => {
      const isNews = newsOf(this.#word) !== newsOf(report);
      this.#word = report;
      if (isNews) onNews(false);
    };
    this.#following = followSide({
      ...{ client, store, migrationUID, holder, proofs, clock, random },
      ...{ onReport: hear, signal },
    })
      .then(() => {
        this.#isConcluded = true;
        isLost = false;
      })
      .catch((error: unknown) => {
        if (signal.aborted) return;
        log.warn({ migrationUID, error: describeError(error) }, "a migration is not followed");
      })
      .finally(() => {
        this.#following = undefined;
        if (!signal.aborted) onNews(isLost);
      });
  }

  async closeWay(): Promise<void> {
    const { way } = this;
    this.way = undefined;
    await way?.[Symbol.asyncDispose]();
  }

  /** Stops following, and closes the connection. The launcher continues on its own. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.closeWay();
    await this.#following;
  }
}

/** Which part of a report is passed on: figures change several times per second. */
function newsOf(word: LauncherWord | undefined): string {
  if (word === undefined || word === "unbegun") return String(word);
  const { decision, claims, outcome, settled, progress, times = {} } = word;
  const hasBegun = Object.keys(times).length > 0;
  return JSON.stringify([decision, claims, outcome, settled, progress?.mode, hasBegun]);
}
