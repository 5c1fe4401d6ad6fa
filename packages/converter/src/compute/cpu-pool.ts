import type { NodeTopology } from "../context.ts";
import type { CpuTopology } from "./cpu-topology.ts";

/**
 * The host CPUs of a Pod, assigned so that the threads of a guest core stay together: on one host core if
 * possible, otherwise in one NUMA cell, otherwise (if allowed) anywhere.
 */
export class CpuPool {
  readonly #cells: readonly CpuCell[];
  readonly #threads: number;

  constructor(cpuSet: readonly number[], node: NodeTopology, threadsPerCore: number) {
    this.#threads = threadsPerCore;
    this.#cells = hostCores(cpuSet, node).map((cores) => new CpuCell(cores, threadsPerCore));
  }

  /**
   * Host CPUs for all cores of a topology, in the order of the guest's CPUs, and how many cores got none. The
   * last guest core may get fewer threads than it has if the CPUs run out.
   */
  takeCores(
    { sockets, cores }: CpuTopology,
    crossCells: boolean,
  ): { cpus: number[]; missing: number } {
    const cpus: number[] = [];
    let missing = sockets * cores;
    missing = this.#takeEach(missing, cpus, (cell) => cell.takeWholeCore());
    missing = this.#takeEach(missing, cpus, (cell) => cell.takeLooseCore());
    return { cpus, missing: crossCells ? this.#takeAnywhere(missing, cpus) : missing };
  }

  /** One host CPU, preferably from a core that is already broken up; `undefined` if none is left. */
  takeThread(): number | undefined {
    for (const cell of this.#cells) {
      const thread = cell.takeThread();
      if (thread !== undefined) return thread;
    }
    return undefined;
  }

  #takeEach(wanted: number, cpus: number[], take: (cell: CpuCell) => number[] | undefined): number {
    let missing = wanted;
    for (const cell of this.#cells) {
      while (missing > 0) {
        const taken = take(cell);
        if (!taken) break;
        cpus.push(...taken);
        missing--;
      }
    }
    return missing;
  }

  #takeAnywhere(wanted: number, cpus: number[]): number {
    let missing = wanted * this.#threads;
    for (const cell of this.#cells) {
      const taken = cell.takeLoose(missing);
      cpus.push(...taken);
      missing -= taken.length;
    }
    return Math.floor(missing / this.#threads);
  }
}

/** The free host CPUs of a NUMA cell. */
class CpuCell {
  readonly #threads: number;
  /** Host cores with CPUs for at least one guest core. */
  readonly #whole: number[][] = [];
  /** CPUs of all other host cores. */
  readonly #loose: number[] = [];

  constructor(cores: readonly number[][], threadsPerCore: number) {
    this.#threads = threadsPerCore;
    for (const core of cores) this.#put(core);
  }

  /** CPUs for a guest core, all from one host core. */
  takeWholeCore(): number[] | undefined {
    const [core] = this.#whole;
    return core && this.#split(core, this.#threads);
  }

  /** CPUs for a guest core, from several host cores. */
  takeLooseCore(): number[] | undefined {
    return this.#loose.length < this.#threads ? undefined : this.takeLoose(this.#threads);
  }

  /** As many of the loose CPUs as there are, up to a number. */
  takeLoose(count: number): number[] {
    return this.#loose.splice(0, count);
  }

  takeThread(): number | undefined {
    if (this.#loose.length > 0) return this.#loose.shift();
    const [core] = this.#whole;
    return core && this.#split(core, 1)[0];
  }

  /** Takes CPUs from the first whole core; its rest may serve another guest core. */
  #split(core: number[], count: number): number[] {
    const taken = core.splice(0, count);
    if (core.length < this.#threads) {
      this.#whole.shift();
      this.#loose.push(...core);
    }
    return taken;
  }

  #put(core: number[]): void {
    if (core.length >= this.#threads) this.#whole.push(core);
    else this.#loose.push(...core);
  }
}

/** The Pod's CPUs by NUMA cell and core, in the node's order. */
function hostCores(cpuSet: readonly number[], node: NodeTopology): number[][][] {
  const available = new Set(cpuSet);
  const seen = new Set<number>();
  return (node.numa_cells ?? []).map((cell) => {
    const cores: number[][] = [];
    for (const { id = 0, siblings } of cell.cpus ?? []) {
      if (seen.has(id)) continue;
      const threads = siblings && siblings.length > 0 ? siblings : [id];
      for (const thread of threads) seen.add(thread);
      cores.push(threads.filter((thread) => available.has(thread)));
    }
    return cores;
  });
}
