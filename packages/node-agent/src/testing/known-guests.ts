import type { KillWorld } from "./kill-world.ts";

/** The guests of a world when everything runs, by name. */
export type KnownGuests = ReadonlyMap<string, string>;

/** Boot ID, QEMU and history of a real guest: all of them differ after a restart, or for a second copy. */
async function lookAt(world: KillWorld, name: string): Promise<string> {
  const launcher = world.real.get(name);
  if (!launcher || launcher.guests.length === 0) return "does not run";
  const { guests, starts, states } = launcher;
  const boot = await launcher.inGuest("cat /proc/sys/kernel/random/boot_id");
  return `boot ${boot} in QEMU ${guests.join(" and ")}, started ${starts} times, was ${states.join(", ")}`;
}

/** Remembers the real guests that run now. */
export async function knowGuests(world: KillWorld): Promise<KnownGuests> {
  const looks = [...world.real.keys()].map(
    async (name) => [name, await lookAt(world, name)] as const,
  );
  return new Map(await Promise.all(looks));
}

/** What happened to guests without a request: nothing if all run as before, and no simulated one was killed. */
export async function guestFaults(
  world: KillWorld,
  known: KnownGuests,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [name, before] of known) {
    const now = await lookAt(world, name);
    if (now !== before) faults.push(`${name} ${now}; before: ${before}`);
  }
  for (const [name, { starts, calls, isRunning }] of world.simulated) {
    if (starts !== 1) faults.push(`${name} was started ${starts} times`);
    if (calls.includes("kill")) faults.push(`${name} was killed`);
    if (!isRunning) faults.push(`${name} does not run`);
  }
  return faults;
}
