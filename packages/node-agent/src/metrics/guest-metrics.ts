import { type Clock, realClock } from "@virtkit/api/clock";
import { linkNames, podInterfaceCandidates } from "@virtkit/api/network";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus, GuestControl, GuestFileSystem } from "@virtkit/domain-manager";
import { cutText } from "../cut-text.ts";
import { guestSamples, type Sample } from "./guest-samples.ts";
import { type DeviceNames, readGuestStats } from "./guest-stats.ts";
import { type MigrationFigures, migrationSamples } from "./migration-samples.ts";

/** A guest whose statistics are collected. */
export interface MeasuredGuest {
  readonly vmi: VirtualMachineInstance;
  /** What is known about it without asking: the names of its disks. */
  readonly status?: Pick<DomainStatus, "disks"> | undefined;
  readonly launcher: Pick<GuestControl, "stats" | "fileSystems">;
  /** How far it is, while it moves to another node. */
  readonly migration?: MigrationFigures | undefined;
}

/** How {@link GuestMetrics} asks. */
export interface GuestMetricsOptions extends Observers {
  readonly clock?: Clock;
  /** Launchers that are asked at the same time. Default 10. */
  readonly concurrency?: number;
  /** Milliseconds for one launcher. Default 5,000. */
  readonly launcherTimeout?: number;
  /** Milliseconds after which a collection answers with what it has. Default 8,000. */
  readonly timeout?: number;
  /**
   * Milliseconds for which the guest's file systems are cached, because its guest agent must be asked for them.
   * Default 60,000.
   */
  readonly fileSystemsAge?: number;
}

interface KnownFileSystems {
  readonly at: number;
  readonly fileSystems: readonly Omit<GuestFileSystem, "disks">[];
}

/**
 * What guests use, for Prometheus. Each collection makes one bulk call per launcher. A launcher that has not
 * answered the last one is not asked again: a collection that overlaps waits for that answer, and one that comes too late
 * for it leaves the guest out. So a slow launcher delays only itself.
 */
export class GuestMetrics {
  readonly #options: Required<Omit<GuestMetricsOptions, keyof Observers>> & Observers;
  /** By UID, the answers of launchers that have not answered yet; empty ones once it took too long. */
  readonly #asked = new Map<string, Promise<readonly Sample[]>>();
  /** UIDs of guests whose launchers failed last time: they are asked last. */
  readonly #slow = new Set<string>();
  readonly #fileSystems = new Map<string, KnownFileSystems>();

  constructor(options: GuestMetricsOptions = {}) {
    this.#options = {
      clock: realClock,
      concurrency: 10,
      launcherTimeout: 5_000,
      timeout: 8_000,
      fileSystemsAge: 60_000,
      ...options,
    };
  }

  /** Samples of all guests that answer in time, and of all migrations. Never rejects. */
  async collect(guests: readonly MeasuredGuest[]): Promise<readonly Sample[]> {
    const { concurrency, clock, timeout } = this.#options;
    this.#forgetAllBut(guests);
    const underWay = guests.flatMap(({ vmi }) => this.#asked.get(uidOf(vmi)) ?? []);
    const waiting = guests
      .filter(({ vmi }) => !this.#asked.has(uidOf(vmi)))
      .toSorted((a, b) => this.#rank(a) - this.#rank(b));
    // How far a migration is, is known without asking: a launcher whose guest moves may be slow to answer.
    const collected: Sample[] = guests.flatMap(({ vmi, migration }) =>
      migrationSamples(vmi, migration),
    );
    let over = false;
    const add = async (answer: Promise<readonly Sample[]>): Promise<void> => {
      const samples = await answer;
      // Not all at once: a call has only so many arguments.
      for (const sample of over ? [] : samples) collected.push(sample);
    };
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next && !over; next = waiting.shift()) {
        await add(this.#answerOf(next));
      }
    };
    const workers = Array.from({ length: Math.min(concurrency, waiting.length) }, work);
    let timer: unknown;
    const late = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, timeout);
    });
    await Promise.race([Promise.all([...workers, ...underWay.map(add)]), late]);
    clock.clearTimeout(timer);
    over = true;
    return collected;
  }

  /** Another collection may have asked the launcher meanwhile. */
  #answerOf(guest: MeasuredGuest): Promise<readonly Sample[]> {
    const uid = uidOf(guest.vmi);
    const underWay = this.#asked.get(uid);
    if (underWay) return underWay;
    const { clock, timeout } = this.#options;
    const answer = new Promise<readonly Sample[]>((resolve) => {
      const timer = clock.setTimeout(() => resolve([]), timeout);
      void this.#samplesOf(guest).then((samples) => {
        clock.clearTimeout(timer);
        this.#asked.delete(uid);
        resolve(samples);
      });
    });
    this.#asked.set(uid, answer);
    return answer;
  }

  /** Never rejects. */
  async #samplesOf(guest: MeasuredGuest): Promise<readonly Sample[]> {
    const { vmi, launcher, status } = guest;
    const { launcherTimeout, log, metrics } = this.#options;
    const uid = uidOf(vmi);
    try {
      const counted = await launcher.stats({ timeout: launcherTimeout });
      const fileSystems = await this.#fileSystemsOf(guest);
      const stats = readGuestStats(counted, deviceNames(vmi, status));
      this.#slow.delete(uid);
      return guestSamples(vmi, { stats, fileSystems });
    } catch (error) {
      this.#slow.add(uid);
      metrics?.count("guest_metrics_failed");
      log?.debug(
        { vmi: uid, error: describeError(error) },
        "a launcher did not report its statistics",
      );
      return [];
    }
  }

  /** Without a guest agent they are unknown, which is not a failure. */
  async #fileSystemsOf({ vmi, launcher }: MeasuredGuest): Promise<KnownFileSystems["fileSystems"]> {
    const { clock, fileSystemsAge, launcherTimeout } = this.#options;
    const hasAgent = vmi.status?.conditions?.some(({ type }) => type === "AgentConnected");
    if (!hasAgent) return [];
    const known = this.#fileSystems.get(uidOf(vmi));
    if (known && clock.now() - known.at < fileSystemsAge) return known.fileSystems;
    const fileSystems = await launcher
      .fileSystems({ timeout: launcherTimeout })
      .then(boundedFileSystems)
      // The guest's agent may be slow or gone; the other statistics are reported all the same.
      .catch(() => known?.fileSystems ?? []);
    this.#fileSystems.set(uidOf(vmi), { at: clock.now(), fileSystems });
    return fileSystems;
  }

  #rank({ vmi }: MeasuredGuest): number {
    return this.#slow.has(uidOf(vmi)) ? 1 : 0;
  }

  #forgetAllBut(guests: readonly MeasuredGuest[]): void {
    const present = new Set(guests.map(({ vmi }) => uidOf(vmi)));
    for (const known of [this.#fileSystems, this.#slow]) {
      for (const uid of known.keys()) if (!present.has(uid)) known.delete(uid);
    }
  }
}

/** More file systems than any guest has, and longer names; a launcher that reports more is not believed. */
const most = { fileSystems: 256, text: 256 } as const;

function boundedFileSystems(found: readonly GuestFileSystem[]): KnownFileSystems["fileSystems"] {
  return found
    .slice(0, most.fileSystems)
    .map(({ diskName, mountPoint, fileSystemType, usedBytes, totalBytes }) => ({
      ...{ usedBytes, totalBytes, diskName: cutText(diskName, most.text) },
      mountPoint: cutText(mountPoint, most.text),
      fileSystemType: cutText(fileSystemType, most.text),
    }));
}

function uidOf({ metadata }: VirtualMachineInstance): string {
  return metadata?.uid ?? "";
}

function deviceNames(vmi: VirtualMachineInstance, status: MeasuredGuest["status"]): DeviceNames {
  const interfaces = (vmi.spec.networks ?? []).flatMap((network) =>
    podInterfaceCandidates(vmi, network).flatMap((pod) => {
      const { tap } = linkNames(pod, network);
      return [[tap, network.name] as const, [pod, network.name] as const];
    }),
  );
  const disks = (status?.disks ?? []).map(({ target, volume }) => [target, volume] as const);
  return { disks: new Map(disks), interfaces: new Map(interfaces) };
}
