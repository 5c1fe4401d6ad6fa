import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import {
  defineResource,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectName,
} from "@virtkit/kube";
import type { Io } from "../io.ts";
import { UsageError } from "../usage-error.ts";
import { migrationLine } from "./migration-line.ts";
import { type MigrationStory, migrationStory, migrationText } from "./migration-story.ts";

type Migration = VirtualMachineInstanceMigration & KubeObject;

const { groups } = namesOf();
const [group, version] = [groups.core, "v1"];
const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const migrations = defineResource<Migration>({
  ...{ group, version, plural: "virtualmachineinstancemigrations" },
  kind: "VirtualMachineInstanceMigration",
});
const events = defineResource({ version, plural: "events", kind: "Event" });

/** What to do with the guest of a cluster's VMI. */
export interface ClusterMigration {
  readonly client: KubeClient;
  readonly vmi: ObjectName & { readonly namespace: string };
  readonly watch: boolean;
  /** Aborted: the migration is deleted, and the guest stays where it is if it is not too late. */
  readonly interrupt?: AbortSignal;
  readonly clock?: Clock;
}

/** Milliseconds between looks. */
const interval = 500;
/** A line that does not change is repeated after this many milliseconds if the output is not a terminal. */
const plainInterval = 5_000;

/** Creates a migration and follows it to its end; exits 1 if the guest stayed. */
export async function migrateInCluster(wish: ClusterMigration, io: Io): Promise<number> {
  const { client, vmi, clock = realClock } = wish;
  const metadata = { namespace: vmi.namespace, generateName: `virtkit-migrate-${vmi.name}-` };
  // Admission refuses a second migration of a VMI, and says why it cannot migrate.
  const made = await client.create(migrations, { metadata, spec: { vmiName: vmi.name } });
  io.stderr.write(`Moving ${vmi.namespace}/${vmi.name} to another node: ${made.metadata.name}\n`);
  const begun = clock.now();
  const display = wish.watch ? lineDisplay(io) : undefined;
  const end = await follow(wish, made, (story) => display?.show(story, clock.now() - begun));
  display?.end();
  tellEnd(vmi, end, io);
  if (end?.outcome === "failed") io.stderr.write(`virtkit why ${vmi.name} says more.\n`);
  return end?.outcome === "moved" ? 0 : 1;
}

/** Deletes the running migrations of a VMI; exits 1 if one ended before that. */
export async function abortInCluster(
  wish: Omit<ClusterMigration, "watch" | "interrupt">,
  io: Io,
): Promise<number> {
  const { client, vmi } = wish;
  const { items } = await client.list(migrations, { namespace: vmi.namespace });
  const own = items.filter(
    ({ spec, status }) =>
      spec?.vmiName === vmi.name && !["Succeeded", "Failed"].includes(String(status?.phase)),
  );
  if (own.length === 0) {
    throw new UsageError(`${vmi.namespace}/${vmi.name} is not being moved; run: virtkit why`);
  }
  let code = 0;
  for (const each of own) {
    await giveUp(client, each);
    const end = await follow(wish, each);
    tellEnd(vmi, end, io);
    if (end?.outcome === "moved") code = 1;
  }
  return code;
}

/**
 * Watches until a migration is over; undefined if it is gone by then. Aborts it once, when it is interrupted.
 */
async function follow(
  { client, vmi, interrupt, clock = realClock }: Omit<ClusterMigration, "watch">,
  migration: Migration,
  onMoving: (story: MigrationStory) => void = () => {},
): Promise<MigrationStory | undefined> {
  const name = { namespace: vmi.namespace, name: String(migration.metadata.name) };
  let isGivenUp = false;
  for (;;) {
    if (interrupt?.aborted && !isGivenUp) {
      isGivenUp = true;
      await giveUp(client, migration);
    }
    const story = await storyOf(client, vmi, name);
    if (story?.outcome !== "moving") return story;
    onMoving(story);
    await sleep(clock, interval);
  }
}

function tellEnd(
  { namespace, name }: ClusterMigration["vmi"],
  end: MigrationStory | undefined,
  { stderr }: Io,
): void {
  const text = end ? migrationText(end) : "it was aborted, and the guest still runs where it was";
  stderr.write(`${namespace}/${name}: ${text}.\n`);
}

async function giveUp(client: KubeClient, { metadata }: Migration): Promise<void> {
  const { namespace, name = "", uid } = metadata;
  const object = { ...(namespace && { namespace }), name };
  try {
    await client.delete(migrations, object, uid ? { preconditions: { uid } } : {});
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The state of a migration; undefined if it is gone. */
async function storyOf(
  client: KubeClient,
  vmi: ObjectName,
  name: ObjectName & { readonly namespace: string },
): Promise<MigrationStory | undefined> {
  const find = async <T extends KubeObject>(get: Promise<T>): Promise<T | undefined> => {
    try {
      return await get;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const migration = await find(client.get(migrations, name));
  if (!migration) return undefined;
  const found = await find(client.get(vmis, vmi));
  const story = migrationStory(migration, { vmi: found });
  if (story.outcome !== "failed") return story;
  // Those of the VMI name the side that failed, and those of the migration the reason if its state has none.
  const about = await Promise.all(
    [name.name, vmi.name].map(async (each) => {
      const fieldSelector = `involvedObject.name=${each}`;
      return (await client.list(events, { namespace: name.namespace, fieldSelector })).items;
    }),
  );
  return migrationStory(migration, { vmi: found, events: about.flat() });
}

/** One line that is overwritten on a terminal; elsewhere a line for each phase, and one every few seconds. */
function lineDisplay({ stderr, isTerminal }: Io) {
  let shown = { phase: "", at: Number.NEGATIVE_INFINITY };
  let isOpen = false;
  return {
    show(story: MigrationStory, elapsed: number): void {
      const line = migrationLine(story, elapsed);
      if (isTerminal) {
        isOpen = true;
        stderr.write(`\r\u001b[K${line}`);
      } else if (story.phase !== shown.phase || elapsed - shown.at >= plainInterval) {
        shown = { phase: story.phase, at: elapsed };
        stderr.write(`${line}\n`);
      }
    },
    end(): void {
      if (isOpen) stderr.write("\n");
    },
  };
}
