import type { Claimed } from "@virtkit/api/grant";
import { afterEach, expect, test } from "vitest";
import type { PrepareRequest, SourceEnd } from "../handover/index.ts";
import { domainXml, FakeLibvirt, remote } from "../testing/fake-libvirt.ts";
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

test("a copy is received, stays paused, runs on a release, and is then claimed", async () => {
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
  [true, flags, /would send clear data.* accepts only encrypted data/],
  [false, [...flags, "tls"], /would send encrypted data.* accepts only clear data/],
])(
  "a target that knows whether data is encrypted (%s) rejects a source that disagrees, before creating anything",
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
])("rejects a message for another %s, and nothing happens", async (field, other) => {
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
])("rejects the domain of another VMI by its %s", async (field, xml) => {
  const { libvirt, parts } = world();
  const receiver = new MigrationReceiver(parts);
  await expect(receiver.prepare({ ...request, xml })).rejects.toEqual(refused(`xml.${field}`));
  expect(libvirt.changes).toEqual([]);
});

test.each(["peerToPeer", "offline", "undefineSource", "tunnelled", "toString"])(
  "a source cannot set the flag %s",
  async (flag) => {
    const { libvirt, parts } = world();
    const receiver = new MigrationReceiver(parts);
    const asked = receiver.prepare({ ...request, flags: [...flags, flag] });
    await expect(asked).rejects.toEqual(refused("flags"));
    expect(libvirt.changes).toEqual([]);
  },
);

test("only post-copy may let finish start the guest", async () => {
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
])("rejects post-copy if the grant %s, and the copy stays paused", async (_, grant) => {
  const { libvirt, store, parts } = world("paused (migration)");
  store.grant = grant;
  const receiver = new MigrationReceiver(parts);
  await expect(receiver.finish(postCopy)).rejects.toEqual(refused("commit-known"));
  expect(libvirt.changes).toEqual([]);
  expect(libvirt.state).toBe("paused (migration)");
});

test("a grant that cannot be read starts nothing, and finish may be asked again", async () => {
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

test("control: a target that trusts the source runs a copy beside a running source", async () => {
  const { libvirt, store, parts } = world("paused (migration)");
  const naive = { ...parts.grant, read: async () => committed };
  const receiver = new MigrationReceiver({ ...parts, grant: naive });
  await receiver.finish(postCopy);
  expect(libvirt.state).toBe("running (migrated)");
  expect(store.grant).toMatchObject({ state: "HandingOver", holder: sourceHolder });
});

test("of a release and an abort, the first one stands, and no phase follows it", async () => {
  const { libvirt, file, parts } = world("paused (user)");
  const receiver = new MigrationReceiver(parts);
  await receiver.abort(migration);
  expect(libvirt.state).toBe("absent");
  await expect(receiver.release(migration)).rejects.toEqual(refused("first-decision"));
  await expect(receiver.prepare(request)).rejects.toEqual(refused("first-decision"));
  expect(file.heard()).toBe("aborted");
});

test("an abort that overtakes prepare leaves no copy, and no definition of one", async () => {
  const { file, parts } = world();
  let start = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const libvirt: FakeLibvirt = new FakeLibvirt("absent", {
    domainMigratePrepare: async () => {
      await started;
      libvirt.state = "paused (migration)";
      return { cookie: new Uint8Array() };
    },
    domainDestroy: () => {
      libvirt.state = "absent";
      return {};
    },
  });
  const receiver = new MigrationReceiver({ ...parts, libvirt });
  const preparing = receiver.prepare(request);
  preparing.catch(() => {});
  await expect.poll(() => libvirt.changes).toEqual(["domainMigratePrepare"]);
  await receiver.abort(migration);
  expect(await receiver.outcome).toEqual({ target: "ended" });
  start();
  await expect(preparing).rejects.toEqual(refused("first-decision"));
  expect(file.heard()).toBe("aborted");
  expect(libvirt.state).toBe("absent");
  expect(libvirt.changes.slice(-2)).toEqual(["domainDestroy", "domainUndefine"]);
});

test("a guest that its user paused stays paused, and is claimed all the same", async () => {
  const { libvirt, parts } = world();
  const receiver = new MigrationReceiver(parts);
  await receiver.prepare({ ...request, paused: true });
  await receiver.finish(finishing);
  await receiver.release(migration);
  expect(await receiver.outcome).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("paused (user)");
});

test("a restarted launcher does not resume a copy that its user paused after the move", async () => {
  const { libvirt, parts } = world("paused (user)", saying("released"));
  expect(await settleTarget(parts)).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("running (migrated)");
  libvirt.state = "paused (user)";
  expect(await settleTarget(parts)).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("paused (user)");
});

test.each(["running (postcopy)", "running (postcopyFailed)", "running (migrated)"])(
  "a copy that is %s is not destroyed by an abort",
  async (state) => {
    const { libvirt, parts } = world(state);
    const receiver = new MigrationReceiver(parts);
    await expect(receiver.abort(migration)).rejects.toEqual(refused("destroy-unnamed"));
    expect(libvirt.changes).toEqual([]);
  },
);

/** A copy whose QEMU waits for a page with its lock held: libvirt answers *finish* when it has ended, and no sooner. */
function hanging(): World & { readonly receiver: MigrationReceiver } {
  const { libvirt, store, parts, ...rest } = world("paused (migration)");
  let ended = (): void => {};
  const hangs: FakeLibvirt = new FakeLibvirt("paused (migration)", {
    domainMigrateFinish: () =>
      new Promise((_, reject) => {
        ended = () => reject(new Error("QEMU has ended"));
      }),
    domainDestroy: () => {
      hangs.state = "absent";
      ended();
      return {};
    },
  });
  store.grant = committed;
  const stuck = { ...parts, libvirt: hangs, resume: hangs };
  const receiver = new MigrationReceiver(stuck);
  return { ...rest, libvirt: hangs, store, parts: stuck, receiver };
}

test("a finish that libvirt does not answer is called once, however often the source asks", async () => {
  const { libvirt, receiver } = hanging();
  const asked = [1, 2, 3].map(() => receiver.finish(postCopy));
  await expect.poll(() => libvirt.changes).toEqual(["domainMigrateFinish"]);
  await receiver.abort(migration);
  for (const each of asked) await expect(each).rejects.toMatchObject({ path: "target/finish" });
  expect(libvirt.calls.filter((name) => name === "domainMigrateFinish")).toHaveLength(1);
});

test("a copy that hangs before it has run is ended by an abort, which does not wait for its finish", async () => {
  const { libvirt, receiver, file } = hanging();
  const finish = receiver.finish(postCopy);
  finish.catch(() => {});
  await expect.poll(() => libvirt.changes).toEqual(["domainMigrateFinish"]);
  await receiver.abort(migration);
  expect(libvirt.state).toBe("absent");
  expect(file.heard()).toBe("aborted");
  expect(await receiver.outcome).toEqual({ target: "ended" });
});

test.each(["paused (user)", "paused (postcopyFailed)"])(
  "a copy that ran in post-copy and is %s now is not destroyed by an abort, not even after a restart",
  async (state) => {
    const { libvirt, receiver, parts } = hanging();
    receiver.finish(postCopy).catch(() => {});
    await expect.poll(() => libvirt.changes).toEqual(["domainMigrateFinish"]);
    libvirt.state = state;
    for (const each of [receiver, new MigrationReceiver(parts)]) {
      await expect(each.abort(migration)).rejects.toEqual(refused("destroy-unnamed"));
    }
    expect(libvirt.state).toBe(state);
  },
);

/** A copy whose post-copy broke, and a libvirt that prepares one attempt to recover it, until that is cancelled. */
function recovered(): World & { readonly receiver: MigrationReceiver; readonly sent: string[] } {
  let isPrepared = false;
  const libvirt: FakeLibvirt = new FakeLibvirt("running (postcopyFailed)", {
    domainMigratePrepare: () => {
      if (isPrepared) throw remote(55, "resuming failed post-copy migration already in progress");
      isPrepared = true;
      return { cookie: new Uint8Array() };
    },
    domainMigrateFinish: ({ cancelled, flags: used }) => {
      // Without the flag libvirt would end the copy.
      if (!cancelled || !used?.includes("postcopyResume")) libvirt.state = "absent";
      isPrepared = false;
      throw remote(90, "migration successfully aborted");
    },
  });
  const given = world();
  const sent: string[] = [];
  const destinationXml = async (xml: string): Promise<string> => {
    sent.push(xml);
    return xml;
  };
  const parts = { ...given.parts, libvirt, destinationXml };
  return { ...given, libvirt, parts, sent, receiver: new MigrationReceiver(parts) };
}

test("a recovery is prepared as often as it is tried: the attempt before is cancelled, and the copy is kept", async () => {
  const { receiver, libvirt, sent } = recovered();
  const again = { ...request, flags: [...flags, "postcopy", "postcopyResume"] };
  for (let attempt = 0; attempt < 3; attempt++) await receiver.prepare(again);
  const [prepare, cancel] = ["domainMigratePrepare", "domainMigrateFinish"];
  expect(libvirt.changes).toEqual([prepare, cancel, prepare, cancel, prepare]);
  expect(libvirt.state).toBe("running (postcopyFailed)");
  // Its files are in use: nothing is written for it anew.
  expect(sent).toEqual([]);
});

test("a target that has not heard asks, and follows the source's file", async () => {
  const released = world("paused (user)", saying("released"));
  expect(await settleTarget(released.parts)).toMatchObject({ target: "runs" });
  expect(released.store.grant.state).toBe("Claimed");
});

test("a target that learns of an abort ends its copy", async () => {
  const { libvirt, parts } = world("paused (user)", saying("aborted"));
  expect(await settleTarget(parts)).toEqual({ target: "ended" });
  expect(libvirt.state).toBe("absent");
});

test("silence is not a decision: a paused copy is neither resumed nor destroyed", async () => {
  const { libvirt, parts } = world("paused (user)");
  expect(await settleTarget(parts)).toMatchObject({ target: "waits" });
  expect(libvirt.changes).toEqual([]);
});

test("with a silent source, the grant's release is enough, but only one of this handover", async () => {
  const { store, parts } = world("paused (user)");
  store.grant = { ...handingOver, state: "Released", epoch: 7 };
  expect(await settleTarget(parts)).toMatchObject({ target: "waits" });
  store.grant = { ...handingOver, state: "Released" };
  expect(await settleTarget(parts)).toMatchObject({ target: "runs" });
});

test("a copy that nobody needs is removed: the grant went back, or the source is proven ended", async () => {
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

test("post-copy that completed on its own is claimed; incomplete post-copy is left alone", async () => {
  const whole = world("running (migrated)", saying("committed"));
  whole.store.grant = { ...handingOver, state: "Committed" };
  expect(await settleTarget(whole.parts)).toMatchObject({ target: "runs" });
  const part = world("running (postcopyFailed)", saying("committed"));
  part.store.grant = { ...handingOver, state: "Committed" };
  expect(await settleTarget(part.parts)).toMatchObject({ target: "waits" });
  expect(part.libvirt.changes).toEqual([]);
});

test("a copy that runs without a release is neither claimed nor destroyed", async () => {
  const { libvirt, parts } = world("running (migrated)");
  await expect(settleTarget(parts)).rejects.toMatchObject({ code: "DOMAIN_NOT_GRANTED" });
  expect(libvirt.changes).toEqual([]);
});
