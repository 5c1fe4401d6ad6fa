import { clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import { encodeGrant, freeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import { migrate } from "./faults.ts";
import { kubeletSteps } from "./kubelet-steps.ts";
import { carryOut } from "./requests.ts";
import { kinds } from "./seen-objects.ts";
import { SmallWorld, type WorldStart } from "./small-world.ts";

const names = namesOf();
const config = clusterConfig({ developerConfiguration: { useEmulation: true } });

/** The moments of a guest's start at which schedules begin. */
const starting: readonly ((world: SmallWorld) => boolean)[] = [
  ({ vmi }) => vmi !== undefined,
  ({ grant }) => grant?.state === "Granted",
  ({ grant }) => grant?.state === "Claimed",
];
/** The moments of a migration at which schedules begin. */
const moving: readonly ((world: SmallWorld) => boolean)[] = [
  ({ store }) => store.list("pods").length === 2,
  ({ vmi }) => vmi?.status?.migrationState?.migrationUid !== undefined,
  ({ vmi }) => vmi?.status?.migrationState?.targetNodeAddress !== undefined,
  ({ grant }) => grant?.state === "HandingOver",
];

/**
 * Starts a guest once, and a migration of it, with nothing going wrong. Schedules begin while the guest runs, or at a moment
 * of its start or of its migration, with agents and controllers that have just been started.
 */
export async function beginWorld(): Promise<readonly WorldStart[]> {
  const world = new SmallWorld();
  world.store.create("user", "virtualmachineinstances", admittedVmi());
  const starts: WorldStart[] = [];
  const reach = async (isReached: (world: SmallWorld) => boolean): Promise<void> => {
    await advanceUntil(world, isReached);
    starts.push(startOf(world));
  };
  for (const isReached of [...starting, isUp]) await reach(isReached);
  migrate(world);
  for (const isReached of moving) await reach(isReached);
  return starts;
}

function isUp({ vmi, promises }: SmallWorld): boolean {
  const conditions = JSON.stringify(vmi?.status?.conditions ?? []);
  const isReady = conditions.includes("LiveMigratable") && conditions.includes('"Ready"');
  return vmi?.status?.phase === "Running" && isReady && promises.open() === undefined;
}

async function advanceUntil(
  world: SmallWorld,
  holds: (world: SmallWorld) => boolean,
): Promise<void> {
  for (let step = 0; step < 2_000; step++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (holds(world)) return;
    if (!advance(world)) world.clock.fireNext();
  }
  throw new Error(`the guest does not get that far: ${JSON.stringify(world.vmi)}`);
}

/** Takes the first step that is possible without time passing. */
function advance(world: SmallWorld): boolean {
  const { requests } = world;
  if (requests.open.length > 0) {
    carryOut(requests.take(0));
    return true;
  }
  for (const process of world.processes) {
    const kind = kinds.find((each) => process.isBehind(each));
    if (!kind) continue;
    process.see(kind);
    return true;
  }
  const [step] = kubeletSteps(world);
  step?.take();
  return step !== undefined;
}

function startOf(world: SmallWorld): WorldStart {
  const records = Object.fromEntries(
    world.nodes.map(({ name, disk }) => [name, disk.content]),
  ) as WorldStart["records"];
  const launchers = world.launchers.map(({ podName, process: { pid }, isRunning }) => ({
    ...{ podName, pid, isRunning },
  }));
  return { store: world.store.content, records, launchers };
}

/** A VMI as the webhook admits it. */
function admittedVmi(): KubeObject {
  const vmi = {
    ...{ apiVersion: `${names.group}/v1`, kind: "VirtualMachineInstance" },
    metadata: { namespace: "default", name: "demo" },
    spec: {
      domain: {
        memory: { guest: "64Mi" },
        devices: { logSerialConsole: false, interfaces: [{ name: "default", masquerade: {} }] },
      },
      networks: [{ name: "default", pod: {} }],
      evictionStrategy: "LiveMigrate",
    },
  } as unknown as VirtualMachineInstance;
  const { metadata, ...rest } = defaultVirtualMachineInstance(vmi, config, {
    uuid: () => "6d1a6a0c-2f6b-4b0e-9f0a-0d6c6f3f7a10",
    now: () => new Date("2026-01-01T00:00:00Z"),
  });
  const own = { [names.own(grantAnnotation)]: encodeGrant(freeGrant) };
  const marked = { ...metadata, annotations: { ...metadata?.annotations, ...own } };
  return JSON.parse(JSON.stringify({ ...rest, metadata: marked })) as KubeObject;
}
