import { expect, test } from "vitest";
import { aWhile, KillScene } from "../testing/kill-scene.ts";
import { type Seam, type SeamHook, seams } from "./seams.ts";

/** A moment at which an agent dies: before or after the nth thing that it does. */
interface Moment {
  readonly seam: Seam;
  readonly when: "before" | "after";
}

const ofMigrations = "migration/kill-table.sim.test.ts kills agents there";

/** What is not done in this scene, and why that is well. */
const elsewhere: Partial<Record<Seam, string>> = {
  "ask for a certificate": ofMigrations,
  "open the way in": ofMigrations,
  "open the way out": ofMigrations,
  "receive the guest": ofMigrations,
  "begin the migration": ofMigrations,
  "write the migration's state": ofMigrations,
  "cancel the migration": "agents die there in schedules.sim.test.ts: it takes a failed migration",
};

/** Milliseconds. On an idle host, the table takes half a minute. */
const patience = 300_000;

interface Played {
  readonly moments: readonly Moment[];
  readonly outcome: string;
}

/** The scene, seen by an agent that is killed at a moment and comes back. */
async function play(killAt: number | undefined, losesState = false): Promise<Played> {
  await using scene = await KillScene.begin();
  const { world } = scene;
  const moments: Moment[] = [];
  let isDead = false;
  const seam: SeamHook = async (name, when) => {
    if (isDead) await new Promise(() => {});
    moments.push({ seam: name, when });
    if (moments.length - 1 !== killAt) return;
    isDead = true;
    world.stop();
    await new Promise(() => {});
  };
  world.start(seam);
  await world.clock.pass(aWhile);
  if (killAt !== undefined) {
    if (losesState) world.loseState();
    else await scene.spoil();
    world.start();
    // What takes longer than this after a list is not "as soon as it has listed".
    await world.clock.pass(3_000);
  }
  await scene.look(losesState);
  await world.clock.pass(2 * aWhile);
  return { moments, outcome: await scene.outcome() };
}

const good = "untouched; started once; ended in order; killed after its time; replaced; stored";

test(
  "an agent that is killed at any moment comes back and finishes its work, and guests do not notice",
  async () => {
    const { moments, outcome } = await play(undefined);
    expect(outcome).toBe(good);
    // A seam at which nobody is killed is one whose kill nobody has thought of.
    const known = new Set([...moments.map(({ seam }) => seam), ...Object.keys(elsewhere)]);
    expect(seams.filter((seam) => !known.has(seam))).toEqual([]);
    const table = new Map<string, Set<string>>();
    for (const [at, { seam, when }] of moments.entries()) {
      const key = `${when} "${seam}"`;
      table.set(key, (table.get(key) ?? new Set()).add((await play(at)).outcome));
    }
    const rows = [...table]
      .sort()
      .map(([key, outcomes]) => `| ${key} | ${[...outcomes].join(", ")} |`);
    const text = `${heading(moments.length)}${rows.join("\n")}\n${withRealGuests}`;
    await expect(text).toMatchFileSnapshot(
      new URL("../../../../docs/node-agent-kills.md", import.meta.url).pathname,
    );
    expect(new Set([...table.values()].flatMap((each) => [...each]))).toEqual(new Set([good]));
  },
  patience,
);

/** Of each kind of moment, where the first and the last one are. */
function firstAndLast(moments: readonly Moment[]): ReadonlySet<number> {
  const kinds = moments.map(({ seam, when }) => `${when} ${seam}`);
  return new Set(kinds.flatMap((kind) => [kinds.indexOf(kind), kinds.lastIndexOf(kind)]));
}

test(
  "even without its state nothing is touched or started twice, and what cannot be proven is left alone",
  async () => {
    const { moments } = await play(undefined);
    const found = new Set<string>();
    for (const at of firstAndLast(moments)) found.add((await play(at, true)).outcome);
    expect([...found].filter((each) => !each.startsWith("untouched"))).toEqual([]);
  },
  patience,
);

/** Of `kills.host.test.ts`, whose figures depend on the host. */
const withRealGuests = `
## With real guests

The test \`kills.host.test.ts\` of \`@virtkit/node-agent\` does the same with processes: an agent of two real guests (libvirt and QEMU)
and eight simulated ones gets SIGKILL. "During" means that the call has left the agent and has no answer yet. After each kill, real
guests have the same boot ID, QEMU and history as before; a dump pauses its guest for a moment.

| what is under way | killed during or after |
|---|---|
| a real guest starts | take the lock, connect to the launcher, prepare the sandbox, read the Node, write the record, read the grant, note the version, swap the grant, sync the guest, write the status |
| guests run, start and end | the same, and: shut the guest down, clean up, remove the record |
| a volume is plugged in and a memory is dumped | read the attachment Pod, plug a volume, sync the guest, write the record, dump the memory, write the status |
| both volumes are unplugged | sync the guest, unplug a volume, write the record, write the status |
| a real guest ends | shut the guest down, delete the domain, clean up, remove the record |

The agent has no verb for backups yet, so there is nothing to kill there. The seams of migrations have
[their own tables](migration-faults.md), and the test \`migration/kill-table.sim.test.ts\` kills agents at them.

The test also prints how long a restarted agent, whose code is loaded, takes until the statuses of both real guests are right again.
In a run of the whole tier on two cores, the median of 13 restarts was 0.7 s, and the slowest took 1.8 s; the goal is 3 s. With a
load average of 36 to 40, the medians of two runs were 2.3 and 4.9 s, and the slowest restarts took 4.6 and 14 s. The benchmark
\`agent.bench.mjs\` prints the same for 20 simulated guests: 0.9 s (median of 9), on a busy host.
`;

function heading(moments: number): string {
  return `# What happens if a node agent is killed

A simulated node has two running guests, and one guest of each of these kinds:

- one that is about to start
- one whose VMI was deleted
- one whose VMI was deleted, and which ignores requests to shut down
- one whose VMI was deleted without its finalizer and created again, so that an older guest runs beside the new one
- one from which a volume is unplugged, while another is plugged in and its memory is dumped

The agent is killed before or after each operation on its disk, on a launcher or on the API server, at ${moments} moments in total,
and restarted. Meanwhile, the addresses and the guest agent are taken out of the status of the running guests. They must be back 3 s
later. The test \`kill-table.sim.test.ts\` of \`@virtkit/node-agent\` runs this and writes the table.

| killed | running guests; the others in this order |
|---|---|
`;
}
