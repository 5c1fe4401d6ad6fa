const running = new Map<string, Promise<unknown>>();

/**
 * Runs tasks with the same key one after the other, in the order of the calls. Each caller gets its own failure.
 */
export async function oneAtATime<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = running.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  running.set(key, mine);
  try {
    return await mine;
  } finally {
    if (running.get(key) === mine) running.delete(key);
  }
}
