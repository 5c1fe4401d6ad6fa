import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inGuest, startGuest, untilAgent } from "../testing/guest-fixture.ts";
import { recordingDial } from "../testing/recording-dial.ts";
import type { DomainRef } from "./event-hub.ts";
import type { EventItem } from "./event-stream.ts";
import { connectLibvirt, type Libvirt } from "./libvirt.ts";
import { migrationProcedures } from "./protocol/migration-procedures.ts";
import type { ProcedureName, Result } from "./protocol/procedures.ts";

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
  const client = await connectLibvirt({ uri: daemon.uri, dial: recordingDial });
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
  // In 128 MiB, a guest that dirties 48 of them kills its agent sooner or later.
  dom = await startGuest(source, control, "vm1", { cmdline: "hb=none", memoryMiB: 256 });
  bootId = await inGuest(control, dom, "cat /proc/sys/kernel/random/boot_id");
});

afterAll(async () => {
  for (const client of [control, long, far]) await client?.close();
  await source?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
});

/** A path that both daemons see; the target's QEMU listens there. */
const uri = (): string => `unix://${target.directory}/migration.sock`;

const moving = ["live", "peerToPeer", "persistDestination", "undefineSource", "unsafe"] as const;

/** Waits for a state of the source's job. */
async function job(wanted: (stats: Result<"domainGetJobStats">) => boolean): Promise<void> {
  const end = Date.now() + 90_000;
  while (!wanted(await control.call("domainGetJobStats", { dom }))) {
    if (Date.now() > end) throw new Error("the job did not come so far in 90 seconds");
    await sleep(50);
  }
}

/**
 * After a move the channel to the agent closes and opens again some time later. The guest is asked
 * until it answers, so the script must be safe to run twice.
 */
async function inMovedGuest(client: Libvirt, moved: DomainRef, script: string): Promise<string> {
  const end = Date.now() + 120_000;
  for (;;) {
    await untilAgent(client, moved);
    try {
      return await inGuest(client, moved, script);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

const readBootId = "cat /proc/sys/kernel/random/boot_id";

/** Collects events until the stream is closed. */
function collect(stream: AsyncIterable<EventItem>): EventItem[] {
  const items: EventItem[] = [];
  void (async () => {
    for await (const item of stream) items.push(item);
  })();
  return items;
}

test("a failed migration leaves the guest where it was", async () => {
  await expect(
    long.call("domainMigratePerform", {
      dom,
      destination: "qemu+unix:///session?socket=/nowhere",
      flags: moving,
    }),
  ).rejects.toMatchObject({ code: "LIBVIRT_REMOTE" });
  expect(await source.virsh("domstate", "vm1")).toBe("running");
});

test("measures how fast the guest writes", async () => {
  await control.call("domainStartDirtyRateCalc", { dom, seconds: 1 });
  const measured = 2;
  await expect
    .poll(async () => {
      const { records } = await control.call("connectGetAllDomainStats", { domains: [dom] });
      return Number(records[0]?.params["dirtyrate.calc_status"]);
    })
    .toBe(measured);
});

test("sets speed and downtime, watches a job and aborts it: the guest stays", async () => {
  await control.call("domainMigrateSetMaxSpeed", { dom, bandwidth: 1 });
  expect((await control.call("domainMigrateGetMaxSpeed", { dom })).bandwidth).toBe(1n);
  expect(await source.virsh("migrate-getspeed", "vm1")).toBe("1");
  await control.call("domainMigrateSetMaxDowntime", { dom, downtime: 77 });
  expect((await control.call("domainMigrateGetMaxDowntime", { dom })).downtime).toBe(77n);
  expect(await source.virsh("migrate-getmaxdowntime", "vm1")).toBe("77");
  for (const abort of ["domainAbortJob", "domainAbortJobFlags"] as const) {
    const outcome = long.call("domainMigratePerform", {
      dom,
      destination: target.uri,
      params: { migrate_uri: uri(), bandwidth: 1 },
      flags: moving,
    });
    outcome.catch(() => {});
    await job(({ type, params }) => type === "unbounded" && Number(params["memory_total"]) > 0);
    const info = await control.call("domainGetJobInfo", { dom });
    expect(info.memTotal).toBeGreaterThan(0n);
    expect(await source.virsh("domjobinfo", "vm1")).toContain("Unbounded");
    await control.call(abort, { dom });
    await expect(outcome).rejects.toMatchObject({ remote: { codeName: "operationAborted" } });
  }
  expect(await source.virsh("domstate", "vm1")).toBe("running");
  expect(await target.virsh("list", "--all", "--name")).toBe("");
});

test("peer to peer: the guest runs at the target, and iterations and the end are reported", async () => {
  const stream = await control.subscribe(["migrationIteration", "jobCompleted", "lifecycle"]);
  const items = collect(stream);
  await long.call("domainMigratePerform", {
    dom,
    destination: target.uri,
    params: { migrate_uri: uri(), bandwidth: 1024 },
    flags: moving,
  });
  const { dom: moved } = await far.call("domainLookupByName", { name: "vm1" });
  expect(await inMovedGuest(far, moved, readBootId)).toBe(bootId);
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

test("and back, managed by the client: begin, prepare, perform, finish, confirm", async () => {
  const farLong = await connected(target);
  const flags = ["live", "persistDestination", "undefineSource", "unsafe"] as const;
  const params = { migrate_uri: uri() };
  const begun = await far.call("domainMigrateBegin", { dom, params, flags });
  expect(begun.xml).toContain("<name>vm1</name>");
  const forTarget = { ...params, destination_name: "vm1", destination_xml: begun.xml };
  const prepared = await control.call("domainMigratePrepare", {
    params: forTarget,
    cookie: begun.cookie,
    flags,
  });
  const performed = await farLong.call("domainMigratePerform", {
    dom,
    params: { ...params, destination_xml: begun.xml, migrate_uri: prepared.uri ?? uri() },
    cookie: prepared.cookie,
    flags,
  });
  const finished = await control.call("domainMigrateFinish", {
    params: forTarget,
    cookie: performed.cookie,
    flags,
    cancelled: false,
  });
  await far.call("domainMigrateConfirm", {
    dom,
    params,
    cookie: finished.cookie,
    flags,
    cancelled: false,
  });
  await farLong.close();
  expect(finished.dom).toMatchObject({ name: "vm1", uuid: dom.uuid });
  expect(await inMovedGuest(control, finished.dom, readBootId)).toBe(bootId);
  expect(await target.virsh("list", "--all", "--name")).toBe("");
});

test("post-copy: switches over a guest that dirties its memory faster than it moves", async () => {
  await inMovedGuest(control, dom, "pidof dirty || setsid dirty 48 >/dev/null 2>&1 &");
  const done = long.call("domainMigratePerform", {
    dom,
    destination: target.uri,
    params: { migrate_uri: uri(), bandwidth: 20 },
    flags: [...moving, "postcopy"],
  });
  done.catch(() => {});
  await job(({ params }) => Number(params["memory_iteration"]) > 1);
  await control.call("domainMigrateStartPostCopy", { dom });
  await done;
  const { dom: moved } = await far.call("domainLookupByName", { name: "vm1" });
  expect(await inMovedGuest(far, moved, readBootId)).toBe(bootId);
});

test("every procedure of a migration has been called", () => {
  const missing = Object.keys(migrationProcedures).filter(
    (name) => !called.has(name as ProcedureName),
  );
  expect(missing, "every procedure of a migration has been called").toEqual([]);
});
