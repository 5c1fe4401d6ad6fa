import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { DomainRef } from "./event-hub.ts";
import type { EventItem } from "./event-stream.ts";
import { connectLibvirt, type Libvirt } from "./libvirt.ts";
import { migrationProcedures } from "./protocol/migration-procedures.ts";
import type { ProcedureName } from "./protocol/procedures.ts";
import { inGuest, startGuest } from "./testing/guest-fixture.ts";

let source: Libvirtd;
let target: Libvirtd;
/** Control of the source, the connection of the long call, and control of the target. */
let control: Libvirt;
let long: Libvirt;
let far: Libvirt;
let dom: DomainRef;
let bootId: string;
const called = new Set<ProcedureName>();

async function connected(daemon: Libvirtd): Promise<Libvirt> {
  const client = await connectLibvirt({ uri: daemon.uri });
  const call = client.call.bind(client);
  client.call = (name, ...rest) => {
    called.add(name);
    return call(name, ...rest);
  };
  return client;
}

beforeAll(async () => {
  [source, target] = await Promise.all([
    startLibvirtd({ hostname: "virtkit-source" }),
    startLibvirtd({ hostname: "virtkit-target" }),
  ]);
  [control, long, far] = await Promise.all([
    connected(source),
    connected(source),
    connected(target),
  ]);
}, 60_000);

afterAll(async () => {
  for (const client of [control, long, far]) await client?.close();
  await source?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  // Both daemons see the guest's kernel at the same path only if the XML of one names the other's folder.
  dom = await startGuest(source, control, "vm1", { cmdline: "hb=none" });
  bootId = await inGuest(control, dom, "cat /proc/sys/kernel/random/boot_id");
}, 60_000);

afterEach(async () => {
  await control.call("domainDestroy", { dom }).catch(() => {});
  await control.call("domainUndefine", { dom }).catch(() => {});
  await far.call("domainDestroy", { dom }).catch(() => {});
  await far.call("domainUndefine", { dom }).catch(() => {});
});

/** A path that both daemons see; the target's QEMU listens there. */
const uri = (): string => `unix://${target.directory}/migration.sock`;

const moving = ["live", "peerToPeer", "persistDestination", "undefineSource", "unsafe"] as const;

/** Collects events until the stream is closed. */
function collect(stream: AsyncIterable<EventItem>): EventItem[] {
  const items: EventItem[] = [];
  void (async () => {
    for await (const item of stream) items.push(item);
  })();
  return items;
}

test("peer to peer: the guest runs on at the target, iterations and the end are told", async () => {
  const stream = await control.subscribe(["migrationIteration", "jobCompleted", "lifecycle"]);
  const items = collect(stream);
  await long.call("domainMigratePerform", {
    dom,
    destination: target.uri,
    params: { migrate_uri: uri(), bandwidth: 1024 },
    flags: moving,
  });
  const { dom: moved } = await far.call("domainLookupByName", { name: "vm1" });
  expect(await inGuest(far, moved, "cat /proc/sys/kernel/random/boot_id")).toBe(bootId);
  expect(await target.virsh("domstate", "vm1", "--reason")).toBe("running (migrated)");
  expect(await source.virsh("list", "--all", "--name")).toBe("");
  expect(items).toContainEqual(expect.objectContaining({ type: "migrationIteration" }));
  expect(items).toContainEqual(
    expect.objectContaining({
      type: "jobCompleted",
      params: expect.objectContaining({ memory_total: expect.any(BigInt) }),
    }),
  );
  const stats = await far.call("domainGetJobStats", {
    dom: moved,
    flags: ["completed", "keepCompleted"],
  });
  expect(stats).toMatchObject({ type: "completed" });
  expect(await target.virsh("domjobinfo", "vm1", "--completed", "--keep-completed")).toContain(
    "Completed",
  );
  await stream.return();
});

test("managed by the client: begin, prepare, perform, finish, confirm", async () => {
  const flags = ["live", "persistDestination", "undefineSource", "unsafe"] as const;
  const params = { migrate_uri: uri() };
  const begun = await control.call("domainMigrateBegin", { dom, params, flags });
  expect(begun.xml).toContain("<name>vm1</name>");
  const forTarget = { ...params, destination_name: "vm1", destination_xml: begun.xml };
  const prepared = await far.call("domainMigratePrepare", {
    params: forTarget,
    cookie: begun.cookie,
    flags,
  });
  const performed = await long.call("domainMigratePerform", {
    dom,
    params: { ...params, destination_xml: begun.xml, migrate_uri: prepared.uri ?? uri() },
    cookie: prepared.cookie,
    flags,
  });
  const finished = await far.call("domainMigrateFinish", {
    params: forTarget,
    cookie: performed.cookie,
    flags,
    cancelled: false,
  });
  await control.call("domainMigrateConfirm", {
    dom,
    params,
    cookie: finished.cookie,
    flags,
    cancelled: false,
  });
  expect(finished.dom).toMatchObject({ name: "vm1", uuid: dom.uuid });
  expect(await inGuest(far, finished.dom, "cat /proc/sys/kernel/random/boot_id")).toBe(bootId);
  expect(await source.virsh("list", "--all", "--name")).toBe("");
});

test("speed and downtime are set, a job is watched and given up: the guest stays", async () => {
  await control.call("domainMigrateSetMaxSpeed", { dom, bandwidth: 1 });
  expect((await control.call("domainMigrateGetMaxSpeed", { dom })).bandwidth).toBe(1n);
  expect(await source.virsh("migrate-getspeed", "vm1")).toBe("1");
  await control.call("domainMigrateSetMaxDowntime", { dom, downtime: 77 });
  expect((await control.call("domainMigrateGetMaxDowntime", { dom })).downtime).toBe(77n);
  expect(await source.virsh("migrate-getmaxdowntime", "vm1")).toBe("77");
  for (const abort of ["domainAbortJob", "domainAbortJobFlags"] as const) {
    const outcome = expect(
      long.call("domainMigratePerform", {
        dom,
        destination: target.uri,
        params: { migrate_uri: uri(), bandwidth: 1 },
        flags: moving,
      }),
    ).rejects.toMatchObject({ remote: { codeName: "operationAborted" } });
    while ((await control.call("domainGetJobStats", { dom })).type !== "unbounded") await sleep(50);
    const info = await control.call("domainGetJobInfo", { dom });
    expect(info.memTotal).toBeGreaterThan(0n);
    expect(await source.virsh("domjobinfo", "vm1")).toContain("Unbounded");
    await control.call(abort, { dom });
    await outcome;
  }
  expect(await source.virsh("domstate", "vm1")).toBe("running");
  expect(await target.virsh("list", "--all", "--name")).toBe("");
});

test("post-copy: a guest that dirties its memory faster than it moves is switched over", async () => {
  await inGuest(control, dom, "setsid dirty 48 >/dev/null 2>&1 &");
  const done = long.call("domainMigratePerform", {
    dom,
    destination: target.uri,
    params: { migrate_uri: uri(), bandwidth: 20 },
    flags: [...moving, "postcopy"],
  });
  while ((await control.call("domainGetJobStats", { dom })).params["memory_iteration"] !== 2n) {
    await sleep(50);
  }
  await control.call("domainMigrateStartPostCopy", { dom });
  await done;
  const { dom: moved } = await far.call("domainLookupByName", { name: "vm1" });
  expect(await inGuest(far, moved, "cat /proc/sys/kernel/random/boot_id")).toBe(bootId);
});

test("every procedure of a migration has been called", () => {
  expect(
    Object.keys(migrationProcedures).filter((name) => !called.has(name as ProcedureName)),
  ).toEqual([]);
});
