/** The recorded host's CPUs by cell, as the recording generates them: CPUs in order, 4 GiB per cell. */
export function recordedNumaCells(counts: readonly number[]): readonly object[] {
  let next = 0;
  return counts.map((count, id) => ({
    ...(id > 0 ? { id } : {}),
    memory: { amount: 4_194_304, unit: "KiB" },
    cpus: Array.from({ length: count }, () => {
      const cpu = next++;
      return { ...(cpu > 0 ? { id: cpu } : {}), siblings: [cpu] };
    }),
  }));
}
