import { describe, expect, test } from "vitest";
import { CpuPool } from "./cpu-pool.ts";

/** Two cells of two cores with two threads each: 0/1 2/3 and 4/5 6/7. */
const node = {
  numa_cells: [
    { cpus: [0, 1, 2, 3].map((id) => ({ id, siblings: [id & ~1, id | 1] })) },
    { id: 1, cpus: [4, 5, 6, 7].map((id) => ({ id, siblings: [id & ~1, id | 1] })) },
  ],
};

function take(cpuSet: number[], cores: number, threads: number, crossCells = true): unknown {
  const pool = new CpuPool(cpuSet, node, threads);
  return pool.takeCores({ sockets: 1, cores, threads }, crossCells);
}

describe("CpuPool", () => {
  test("keeps the threads of a guest core on one host core", () => {
    expect(take([0, 1, 2, 3, 4, 5], 2, 2)).toEqual({ cpus: [0, 1, 2, 3], missing: 0 });
    expect(take([1, 2, 4, 5], 1, 2)).toEqual({ cpus: [4, 5], missing: 0 });
  });

  test("otherwise in one cell, or anywhere if that is allowed", () => {
    expect(take([1, 2, 4, 6], 2, 2)).toEqual({ cpus: [1, 2, 4, 6], missing: 0 });
    expect(take([3, 4, 6, 7], 2, 2)).toEqual({ cpus: [6, 7, 3, 4], missing: 0 });
    expect(take([3, 4, 6, 7], 2, 2, false)).toEqual({ cpus: [6, 7], missing: 1 });
  });

  test("reports how many cores got nothing", () => {
    expect(take([0, 1], 3, 1)).toEqual({ cpus: [0, 1], missing: 1 });
    expect(take([], 2, 1)).toEqual({ cpus: [], missing: 2 });
  });

  test("gives single threads from broken cores first", () => {
    const pool = new CpuPool([0, 1, 2], node, 2);
    expect([pool.takeThread(), pool.takeThread(), pool.takeThread(), pool.takeThread()]).toEqual([
      2,
      0,
      1,
      undefined,
    ]);
  });

  test("takes a CPU without siblings as a core", () => {
    const pool = new CpuPool([0, 1], { numa_cells: [{ cpus: [{}, { id: 1 }] }] }, 1);
    expect(pool.takeCores({ sockets: 2, cores: 1, threads: 1 }, false).cpus).toEqual([0, 1]);
  });
});
