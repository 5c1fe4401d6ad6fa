import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { AgentWorld, type WorldLauncher } from "../testing/agent-world.ts";
import { podResource } from "./launcher-pods.ts";

const aWhile = 10_000;
const claim = { claimName: "data", hotpluggable: true };

/** What a controller does for a volume that is plugged in: it has a Pod made for it and names that. */
async function attach(
  world: AgentWorld,
  launcher: WorldLauncher,
  { owner = launcher.container.podUid, isRunning = true } = {},
): Promise<string> {
  const pod = await world.client.create(podResource, {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: {
      ...{ name: "hp-1", namespace: "default", labels: { "kubevirt.io": "hotplug-disk" } },
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "virt-launcher-vm", uid: owner, controller: true },
      ],
    },
    spec: { nodeName: "node01", containers: [{ name: "hotplug-disk", image: "x" }] },
  } as never);
  const status = {
    containerStatuses: [
      {
        ...{ name: "hotplug-disk", containerID: "containerd://b" },
        state: isRunning ? { running: {} } : {},
      },
    ],
  };
  const place = { namespace: "default", name: "hp-1" };
  const body = { status } as never;
  await world.client.patch(podResource, place, { type: "merge", body }, { subresource: "status" });
  const uid = pod.metadata.uid ?? "";
  await world.change("vm", (object) => {
    const vmi = object as unknown as VirtualMachineInstance;
    return plugged(vmi, uid) as never;
  });
  return uid;
}

/** With a volume that an attachment Pod has brought to the node. */
function plugged(vmi: VirtualMachineInstance, uid: string): VirtualMachineInstance {
  return {
    ...vmi,
    spec: {
      ...vmi.spec,
      domain: { ...vmi.spec.domain, devices: { disks: [{ name: "data", disk: { bus: "scsi" } }] } },
      volumes: [{ name: "data", persistentVolumeClaim: claim }],
    },
    status: {
      ...vmi.status,
      volumeStatus: [
        {
          ...{ name: "data", target: "", phase: "AttachedToNode" },
          hotplugVolume: { attachPodName: "hp-1", attachPodUID: uid },
        },
      ],
    },
  };
}

async function volume(world: AgentWorld): Promise<VolumeStatus | undefined> {
  return (await world.vmi("vm"))?.status?.volumeStatus?.[0];
}

function unplugged(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const domain = { ...vmi.spec.domain, devices: {} };
  return { ...vmi, spec: { ...vmi.spec, domain, volumes: [] } };
}

async function startedWorld(): Promise<{ world: AgentWorld; launcher: WorldLauncher }> {
  const world = new AgentWorld();
  const launcher = await world.schedule("vm");
  world.start();
  await world.clock.pass(aWhile);
  expect((await world.vmi("vm"))?.status).toMatchObject({
    phase: "Running",
    selinuxContext: "none",
  });
  return { world, launcher };
}

test("a volume is mounted, becomes a disk and is Ready, and is removed in reverse once the guest has released it", async () => {
  const { world, launcher } = await startedWorld();
  await using _ = world;
  await attach(world, launcher);
  await world.clock.pass(aWhile);
  expect([...launcher.plugged]).toEqual(["data"]);
  expect(await volume(world)).toMatchObject({
    phase: "Ready",
    target: expect.stringMatching(/.+/),
  });

  // An agent that comes back finds it as it is.
  world.stop();
  world.start();
  await world.clock.pass(aWhile);
  expect([...launcher.plugged]).toEqual(["data"]);

  await world.change("vm", (vmi) => unplugged(vmi as unknown as VirtualMachineInstance) as never);
  await world.clock.pass(aWhile);
  expect([...launcher.plugged]).toEqual([]);
  expect(await volume(world)).toMatchObject({ phase: "UnMountedFromPod", target: "" });
  expect(launcher.starts).toBe(1);
});

test.each([
  ["of another launcher", { owner: "another" }],
  ["that does not run yet", { isRunning: false }],
] as const)("nothing is mounted from a Pod %s, and the guest keeps running", async (_, options) => {
  const { world, launcher } = await startedWorld();
  await using __ = world;
  await attach(world, launcher, options);
  await world.clock.pass(aWhile);
  expect([...launcher.plugged]).toEqual([]);
  expect(await volume(world)).toMatchObject({ phase: "AttachedToNode" });
  expect((await world.vmi("vm"))?.status?.phase).toBe("Running");
});

test("a volume missing from its Pod is reported in an event, and attached as soon as it is there", async () => {
  const { world, launcher } = await startedWorld();
  await using _ = world;
  launcher.missing.add("data");
  await attach(world, launcher);
  await world.clock.pass(aWhile);
  expect(await volume(world)).toMatchObject({ phase: "AttachedToNode" });
  launcher.missing.clear();
  await world.clock.pass(aWhile);
  expect(await volume(world)).toMatchObject({ phase: "Ready" });
});

test("a volume that an agent has left half-way is not reported as gone until it is", async () => {
  const { world, launcher } = await startedWorld();
  await using _ = world;
  await attach(world, launcher);
  await world.clock.pass(aWhile);
  world.stop();
  // It was killed while it took the volume out.
  launcher.plugged.clear();
  launcher.interrupted.add("data");
  await world.change("vm", (vmi) => unplugged(vmi as unknown as VirtualMachineInstance) as never);
  const reported: unknown[] = [];
  world.start(async (seam, when) => {
    if (seam === "unplug a volume" && when === "before") {
      reported.push((await volume(world))?.phase);
    }
  });
  await world.clock.pass(aWhile);
  expect(reported).toEqual(["Ready"]);
  expect([...launcher.interrupted]).toEqual([]);
  expect(await volume(world)).toMatchObject({ phase: "UnMountedFromPod" });
});
