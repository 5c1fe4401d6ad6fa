import type { VirtualMachine } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { vmOf } from "../testing/vm-objects.ts";
import { VmWorld, type WorldOptions } from "../testing/vm-world.ts";

const status = "patch virtualmachines/status";

/** A VM as a user makes it. */
function newVm(runStrategy: string): VirtualMachine {
  const vm = vmOf(runStrategy);
  return { ...vm, metadata: { ...vm.metadata, annotations: {}, finalizers: [] } };
}

function deleteVm(world: VmWorld): void {
  world.changeVm((vm) => ({
    ...vm,
    metadata: { ...vm.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  }));
}

/** What `virtctl restart` asks for. */
function restart(world: VmWorld): void {
  const uid = world.vmi?.metadata?.uid;
  world.changeVm((vm) => ({
    ...vm,
    status: { ...vm.status, stateChangeRequests: [{ action: "Stop", uid }, { action: "Start" }] },
  }));
}

test("what the life of a VM costs: 13 writes and 2 events from its creation until it is gone", async () => {
  const world = new VmWorld(newVm("Always"));
  await world.settle();
  expect(world.vm?.status?.printableStatus).toBe("Running");
  expect(world.writes).toEqual([
    // The version of the API.
    "patch virtualmachines",
    // The finalizer, before there can be a VMI.
    "patch virtualmachines",
    "create controllerrevisions",
    "create virtualmachineinstances",
    // Starting, created, running and ready.
    status,
    status,
    status,
  ]);
  const started = world.writes.length;
  deleteVm(world);
  await world.settle();
  expect(world.vm).toBeUndefined();
  expect(world.writes.slice(started)).toEqual([
    "delete virtualmachineinstances",
    // Terminating, the VMI has ended, the VMI is gone.
    status,
    status,
    "patch virtualmachineinstances",
    status,
    "patch virtualmachines",
  ]);
  expect(world.events).toEqual(["SuccessfulCreate", "SuccessfulDelete"]);
});

test("a VM that runs costs nothing", async () => {
  const world = new VmWorld(newVm("Always"));
  await world.settle();
  const before = world.writes.length;
  for (let look = 0; look < 5; look += 1) await world.pass();
  expect(world.writes).toHaveLength(before);
});

interface Scenario {
  readonly strategy: string;
  readonly isBroken?: boolean;
  act(world: VmWorld): void;
  reached(world: VmWorld): unknown;
}

const scenarios: Readonly<Record<string, Scenario>> = {
  start: {
    strategy: "Always",
    act: () => undefined,
    reached: ({ vm, vmi }) => [vm?.status?.printableStatus, vmi?.status?.phase],
  },
  stop: {
    strategy: "Always",
    act: (world) =>
      world.changeVm((vm) => ({ ...vm, spec: { ...vm.spec, runStrategy: "Halted" } })),
    reached: ({ vm, vmi }) => [vm?.status?.printableStatus, vmi?.status?.phase],
  },
  restart: {
    strategy: "Always",
    act: restart,
    reached: ({ vm, vmi }) => [
      vm?.status?.printableStatus,
      vmi?.status?.phase,
      vm?.status?.stateChangeRequests,
    ],
  },
  crash: {
    strategy: "Always",
    isBroken: true,
    act: () => undefined,
    reached: ({ vm, vmi, starts }) => [
      vm?.status?.printableStatus,
      vm?.status?.startFailure?.consecutiveFailCount,
      vmi,
      // A failure that is not recorded would be followed by the next start at once.
      starts,
    ],
  },
  delete: { strategy: "Always", act: deleteVm, reached: ({ vm, vmi }) => [vm, vmi] },
};

async function live(
  { strategy, isBroken, act }: Scenario,
  options: WorldOptions = {},
): Promise<VmWorld> {
  const world = new VmWorld(newVm(strategy), { isBroken, ...options });
  await world.settle();
  act(world);
  await world.settle();
  return world;
}

/** The faults after which what was wanted is not reached, of each kind at each write. */
async function missed(
  scenario: Scenario,
  controller?: WorldOptions["controller"],
): Promise<readonly string[]> {
  const undisturbed = await live(scenario);
  const wanted = JSON.stringify(scenario.reached(undisturbed));
  const found: string[] = [];
  for (const kind of ["refused", "lost"] as const) {
    for (let at = 0; at < undisturbed.writes.length; at += 1) {
      const world = await live(scenario, { fault: { at, kind }, controller });
      const reached = JSON.stringify(scenario.reached(world));
      if (reached !== wanted) found.push(`${kind} ${at} ${undisturbed.writes[at]}: ${reached}`);
    }
  }
  return found;
}

describe("with a fault at each write in turn, what was wanted is reached all the same", () => {
  test.each(Object.entries(scenarios))("%s", async (_, scenario) => {
    expect(await missed(scenario)).toEqual([]);
  });

  test("and a controller that does not hear of refusals misses it", async () => {
    expect(await missed(scenarios["crash"] as Scenario, "deaf")).not.toEqual([]);
  });
});

/** A life after which everything that was ever seen is seen once more, as by another controller. */
async function lag(scenario: Scenario, options?: WorldOptions): Promise<VmWorld> {
  const world = await live(scenario, options);
  for (const view of [...world.views]) await world.pass(view);
  await world.settle();
  return world;
}

describe("caches that lag behind undo nothing and start nothing twice", () => {
  test.each(Object.entries(scenarios))("%s", async (_, scenario) => {
    const [world, undisturbed] = [await lag(scenario), await live(scenario)];
    expect(scenario.reached(world)).toEqual(scenario.reached(undisturbed));
    expect(world.starts).toBe(undisturbed.starts);
  });

  test("and a controller that writes without tests and deletes by name does", async () => {
    const scenario = scenarios["restart"] as Scenario;
    const world = await lag(scenario, { controller: "careless" });
    expect(world.starts).toBeGreaterThan((await live(scenario)).starts);
  });
});
