import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "@virtkit/lab/cluster";
import { CounterHistory } from "./counter-history.ts";
import { readCount, readCounts } from "./guest-counter.ts";
import type { MovingVm } from "./moving-vm.ts";
import { qemusOfGuest } from "./qemu-of-guest.ts";
import { RunHistory } from "./run-history.ts";

/** How many counts before the last one are read again in each sample: two copies write close to each other. */
const overlap = 64;

/**
 * Watches a guest from outside until it is disposed of: which of its QEMUs run, what is on its shared disk, and what each
 * copy that can be reached reports.
 */
export class GuestWatch implements AsyncDisposable {
  readonly #runs = new RunHistory();
  readonly #counts = new CounterHistory();
  readonly #cluster: Cluster;
  readonly #vm: MovingVm;
  readonly #stop = new AbortController();
  readonly #watching: readonly Promise<void>[];
  #addresses: readonly string[] = [];

  constructor(cluster: Cluster, vm: MovingVm) {
    this.#cluster = cluster;
    this.#vm = vm;
    this.#watching = [
      this.#repeat(250, async () => this.#look()),
      this.#repeat(1_000, () => this.#findAddresses()),
      this.#repeat(200, () => this.#listen()),
    ];
  }

  /** Everything that was observed and that one guest cannot have done; empty if all is well. */
  faults(): readonly string[] {
    const { runners, faults } = this.#runs;
    const { acknowledged, highest } = this.#counts;
    // A watch that sees nothing finds no faults.
    if (runners === 0 || acknowledged === 0 || highest < 0) {
      throw new Error(
        `the guest was not observed: ${runners} copies ran, ${acknowledged} counts were acknowledged, the last one on disk is ${highest}`,
      );
    }
    return [...faults, ...this.#counts.faults(readCounts(this.#vm.image, 0))];
  }

  async #repeat(interval: number, act: () => Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await act();
      await sleep(interval);
    }
  }

  #look(): void {
    const { namespace, name, image } = this.#vm;
    const qemus = qemusOfGuest(namespace, name);
    this.#runs.look(
      new Map(qemus.map((each) => [`QEMU ${each.pid} on ${each.node}`, each.vcpuTime()])),
    );
    const from = Math.max(0, this.#counts.highest - overlap);
    this.#counts.noteDisk(readCounts(image, from, 4 * overlap));
  }

  async #findAddresses(): Promise<void> {
    const path = `/api/v1/namespaces/${this.#vm.namespace}/pods`;
    try {
      const { body } = await this.#cluster.request(path);
      const { items = [] } = body as { items?: readonly { status: { podIP?: string } }[] };
      this.#addresses = items.flatMap(({ status }) => status.podIP ?? []);
    } catch {
      // The API server is away; the addresses of before are asked on.
    }
  }

  /** One after the other, so that reports stay in order. */
  async #listen(): Promise<void> {
    for (const address of this.#addresses) {
      try {
        const signal = AbortSignal.timeout(700);
        const answer = await fetch(`http://${address}/count`, { signal });
        this.#counts.noteSaid(readCount(await answer.text()));
      } catch {
        // A copy that does not run, or whose network is cut, says nothing.
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watching);
  }
}
