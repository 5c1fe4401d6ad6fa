import type { Claimed } from "@virtkit/api/grant";
import { afterEach, expect, test } from "vitest";
import type { PrepareRequest, SourceEnd } from "../handover/index.ts";
import { domainXml, FakeLibvirt } from "../testing/fake-libvirt.ts";
import {
  handingOver,
  MemoryGrantStore,
  migration,
  sourceHolder,
  targetHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { ReceiveFile } from "./receive-file.ts";
import { targetGrant } from "./receive-grant.ts";
import { MigrationReceiver } from "./receive-migration.ts";
import type { TargetParts } from "./receive-parts.ts";
import { settleTarget } from "./receive-settle.ts";

const directory = temporaryDirectory(afterEach);
const domain = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" };
const silent: SourceEnd = {
  decision: async () => {
    throw new Error("nobody answers");
  },
};

const saying = (outcome: "released" | "aborted" | "committed" | undefined): SourceEnd => ({
  decision: async () => outcome && { migrationUID: migration.migrationUID, outcome },
});

interface World {
  readonly libvirt: FakeLibvirt;
  readonly store: MemoryGrantStore;
  readonly file: ReceiveFile;
  readonly parts: TargetParts;
}

function world(state: FakeLibvirt["state"] = "absent", source: SourceEnd = silent): World {
  const libvirt: FakeLibvirt = new FakeLibvirt(state, {
    domainMigratePrepare: () => {
      libvirt.state = "paused (migration)";
      return { cookie: new Uint8Array([1]) };
    },
    domainMigrateFinish: ({ flags }) => {
      libvirt.state = flags?.includes("paused") ? "paused (user)" : "running (migrated)";
      return { cookie: new Uint8Array([2]) };
    },
    domainResume: () => {
      libvirt.state = "running (migrated)";
      return {};
    },
    domainDestroy: () => {
      libvirt.state = "absent";
      return {};
    },
  });
  const store = new MemoryGrantStore();
  const file = new ReceiveFile(directory(), migration.migrationUID);
  const connections = { libvirt, resume: libvirt, source };
  const listen = "unix:///in.sock";
  const grant = targetGrant(store, targetHolder);
  const parts = { ...connections, domain, migration, listen, file, grant };
  return { libvirt, store, file, parts };
}

const flags = ["live", "persistDestination", "changeProtection"];
const claimed: Claimed = {
  ...{ vmiUID: "vmi-1", epoch: 1, seq: 5 },
  state: "Claimed",
  holder: sourceHolder,
};
const request: PrepareRequest = {
  ...{ migration, xml: domainXml, cookie: new Uint8Array(), flags, paused: false },
};
const finishing = { migration, cookie: new Uint8Array(), flags: [...flags, "paused"] };
const refused = (path: string): object =>
  expect.objectContaining({ code: "MIGRATION_REFUSED", path });

test("a copy is received, stays paused, and runs on a release: then it is claimed", async () => {
  const { libvirt, store, file, parts } = world();
  const receiver = new MigrationReceiver(parts);
  await receiver.prepare(request);
  await receiver.finish(finishing);
  expect(libvirt.state).toBe("paused (user)");
  await receiver.release(migration);
  expect(file.heard()).toBe("released");
  expect(await receiver.outcome).toMatchObject({ target: "runs" });
  expect(store.grant).toMatchObject({ state: "Claimed", epoch: 2, holder: targetHolder });
});

test.each([
  [true, flags, /would send clear data.* takes encrypted data only/],
  [false, [...flags, "tls"], /would send encrypted data.* takes clear data only/],
])(
  "a target that is told whether data is encrypted (%s) refuses a source that does otherwise, before anything is made",
  async (encrypted, wrong, why) => {
    const { libvirt, parts } = world();
    const receiver = new MigrationReceiver({ ...parts, encrypted });
    await expect(receiver.prepare({ ...request, flags: wrong })).rejects.toThrow(why);
    expect(libvirt.changes).toEqual([]);
    const right = encrypted ? [...flags, "tls"] : flags;
    await receiver.prepare({ ...request, flags: right });
    expect(libvirt.state).toBe("paused (migration)");
  },
);

test.each([
  ["migrationUID", { migrationUID: "m-2" }],
  ["vmiUID", { vmiUID: "vmi-2" }],
  ["epoch", { epoch: 2 }],
  ["seq", { seq: 4 }],
])("what names another %s is refused, and nothing happens", async (field, other) => {
  const { libvirt, file, parts } = world("paused (user)");
  const receiver = new MigrationReceiver(parts);
  const wrong = { ...migration, ...other };
  const asked = [
    receiver.prepare({ ...request, migration: wrong }),
    receiver.finish({ ...finishing, migration: wrong }),
    receiver.release(wrong),
    receiver.abort(wrong),
    receiver.state(wrong),
  ];
  for (const each of await Promise.allSettled(asked)) {
    expect(each).toMatchObject({ status: "rejected", reason: refused(field) });
  }
  expect(libvirt.changes).toEqual([]);
  expect(file.heard()).toBeUndefined();
  expect(libvirt.state).toBe("paused (user)");
});

test.each([
  ["name", domainXml.replace("vm1", "vm2")],
  ["uuid", domainXml.replace("5d307ca9", "6d307ca9")],
  [
    "uuid",
    domainXml.replace(
      /<uuid>.*<\/uuid>/,
      "<!-- <uuid>5d307ca9-b3ef-428c-8861-06e72d69f223</uuid> -->",
    ),
  ],
])("the domain of another VMI is refused by its %s", async (field, xml) => {
  const { libvirt, parts } = world();
  const receiver = new MigrationReceiver(parts);
  await expect(receiver.prepare({ ...request, xml })).rejects.toEqual(refused(`xml.${field}`));
  expect(libvirt.changes).toEqual([]);
});

test.each(["peerToPeer", "offline", "undefineSource", "tunnelled", "toString"])(
  "a source cannot have the flag %s",
  async (flag) => {
    const { libvirt, parts } = world();
    const receiver = new MigrationReceiver(parts);
    const asked = receiver.prepare({ ...request, flags: [...flags, flag] });
    await expect(asked).rejects.toEqual(refused("flags"));
    expect(libvirt.changes).toEqual([]);
  },
);

test("finish that would start the guest is let through in post-copy alone", async () => {
  const { libvirt, parts } = world("paused (migration)");
  const receiver = new MigrationReceiver(parts);
  await expect(receiver.finish({ ...finishing, flags })).rejects.toEqual(refused("finish.flags"));
  expect(libvirt.changes).toEqual([]);
});

const postCopy = { ...finishing, flags: [...flags, "postcopy"] };
const committed = { ...handingOver, state: "Committed" } as const;

test.each([
  ["still hands over", handingOver],
  ["is committed for another migration", { ...committed, migrationUID: "m-2" }],
  ["is committed in another epoch", { ...committed, epoch: 2 }],
  ["is committed to another target", { ...committed, target: sourceHolder }],
  ["went back to the source", claimed],
])(
  "a source that says post-copy is refused where the grant %s: its copy stays paused",
  async (_, grant) => {
    const { libvirt, store, parts } = world("paused (migration)");
    store.grant = grant;
    const receiver = new MigrationReceiver(parts);
    await expect(receiver.finish(postCopy)).rejects.toEqual(refused("commit-known"));
    expect(libvirt.changes).toEqual([]);
    expect(libvirt.state).toBe("paused (migration)");
  },
);

test("a grant that cannot be read starts nothing either, and finish may be asked again", async () => {
  const { libvirt, store, parts } = world("paused (migration)");
  store.grant = committed;
  store.down = true;
  const receiver = new MigrationReceiver(parts);
  await expect(receiver.finish(postCopy)).rejects.toMatchObject({ path: "target/finish" });
  expect(libvirt.changes).toEqual([]);
  store.down = false;
  await receiver.finish(postCopy);
  expect(await receiver.outcome).toMatchObject({ target: "runs" });
});

test("control: a target that takes the source's word runs a copy beside a source that runs", async () => {
  const { libvirt, store, parts } = world("paused (migration)");
  const naive = { ...parts.grant, read: async () => committed };
  const receiver = new MigrationReceiver({ ...parts, grant: naive });
  await receiver.finish(postCopy);
  expect(libvirt.state).toBe("running (migrated)");
  expect(store.grant).toMatchObject({ state: "HandingOver", holder: sourceHolder });
});

test("a release and an abort: what was heard first stands, and no phase comes after it", async () => {
  const { libvirt, file, parts } = world("paused (user)");
  const receiver = new MigrationReceiver(parts);
  await receiver.abort(migration);
  expect(libvirt.state).toBe("absent");
  await expect(receiver.release(migration)).rejects.toEqual(refused("first-decision"));
  await expect(receiver.prepare(request)).rejects.toEqual(refused("first-decision"));
  expect(file.heard()).toBe("aborted");
});

test("a guest that its user had paused stays paused, and is claimed all the same", async () => {
  const { libvirt, parts } = world();
  const receiver = new MigrationReceiver(parts);
  await receiver.prepare({ ...request, paused: true });
  await receiver.finish(finishing);
  await receiver.release(migration);
  expect(await receiver.outcome).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("paused (user)");
});

test("a copy that its user pauses after the move is not resumed by a restarted launcher", async () => {
  const { libvirt, parts } = world("paused (user)", saying("released"));
  expect(await settleTarget(parts)).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("running (migrated)");
  libvirt.state = "paused (user)";
  expect(await settleTarget(parts)).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("paused (user)");
});

test("a copy that runs in post-copy is not destroyed by an abort", async () => {
  const { libvirt, parts } = world("running (postcopy)");
  const receiver = new MigrationReceiver(parts);
  await expect(receiver.abort(migration)).rejects.toEqual(refused("destroy-unnamed"));
  expect(libvirt.changes).toEqual([]);
});

test("a target that has not heard asks, and does as the source's file says", async () => {
  const released = world("paused (user)", saying("released"));
  expect(await settleTarget(released.parts)).toMatchObject({ target: "runs" });
  expect(released.store.grant.state).toBe("Claimed");
});

test("a target that learns of an abort ends its copy", async () => {
  const { libvirt, parts } = world("paused (user)", saying("aborted"));
  expect(await settleTarget(parts)).toEqual({ target: "ended" });
  expect(libvirt.state).toBe("absent");
});

test("silence is no decision: a paused copy is neither resumed nor destroyed", async () => {
  const { libvirt, parts } = world("paused (user)");
  expect(await settleTarget(parts)).toMatchObject({ target: "waits" });
  expect(libvirt.changes).toEqual([]);
});

test("with the source silent the grant's release is enough, and only one of this handover", async () => {
  const { store, parts } = world("paused (user)");
  store.grant = { ...handingOver, state: "Released", epoch: 7 };
  expect(await settleTarget(parts)).toMatchObject({ target: "waits" });
  store.grant = { ...handingOver, state: "Released" };
  expect(await settleTarget(parts)).toMatchObject({ target: "runs" });
});

test("a copy that nobody asks for is reaped: the grant went back, or the source is proven ended", async () => {
  const back = world("paused (user)");
  back.store.grant = { ...migration, state: "Claimed", holder: sourceHolder };
  expect(await settleTarget(back.parts)).toEqual({ target: "ended" });
});

test("a source that is proven ended without a release leaves nothing to wait for", async () => {
  const { libvirt, parts } = world("paused (user)");
  const { containerID, bootID } = sourceHolder;
  const proofs = [{ kind: "processGone", containerID, bootID, seen: "pidfd" }] as const;
  expect(await settleTarget(parts, { proofs })).toEqual({ target: "ended" });
  expect(libvirt.state).toBe("absent");
});

test("post-copy that completed by itself is claimed; one that has not is left alone", async () => {
  const whole = world("running (migrated)", saying("committed"));
  whole.store.grant = { ...handingOver, state: "Committed" };
  expect(await settleTarget(whole.parts)).toMatchObject({ target: "runs" });
  const part = world("running (postcopyFailed)", saying("committed"));
  part.store.grant = { ...handingOver, state: "Committed" };
  expect(await settleTarget(part.parts)).toMatchObject({ target: "waits" });
  expect(part.libvirt.changes).toEqual([]);
});

test("a copy that runs without a release is not claimed, and not destroyed", async () => {
  const { libvirt, parts } = world("running (migrated)");
  await expect(settleTarget(parts)).rejects.toMatchObject({ code: "DOMAIN_NOT_GRANTED" });
  expect(libvirt.changes).toEqual([]);
});
