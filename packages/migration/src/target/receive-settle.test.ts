import type { Claimed, ReadGrant } from "@virtkit/api/grant";
import { afterEach, expect, test } from "vitest";
import type { SourceEnd } from "../handover/index.ts";
import { FakeLibvirt } from "../testing/fake-libvirt.ts";
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
import { type SettledTarget, settleTarget } from "./receive-settle.ts";

const directory = temporaryDirectory(afterEach);
const domain = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" };
const committed = { ...handingOver, state: "Committed" } as const;
const { containerID, bootID } = sourceHolder;
const proofOfSource = [{ kind: "processGone", containerID, bootID, seen: "pidfd" }] as const;
const backAtSource: Claimed = {
  ...{ vmiUID: "vmi-1", epoch: 1, seq: 5 },
  state: "Claimed",
  holder: sourceHolder,
};

const silent: SourceEnd = {
  decision: async () => {
    throw new Error("nobody answers");
  },
};
const saying = (outcome: "aborted" | "returned"): SourceEnd => ({
  decision: async () => ({ migrationUID: migration.migrationUID, outcome }),
});

interface Given {
  /** What QEMU says of its migration; by default it does not answer. */
  readonly stream?: string;
  readonly grant?: ReadGrant;
  readonly source?: SourceEnd;
  /** Whether the source is proven to have ended. */
  readonly isProven?: boolean;
  /** Whether the copy was started in post-copy. Default true. */
  readonly isStarted?: boolean;
}

interface Settled {
  readonly settled: SettledTarget;
  readonly libvirt: FakeLibvirt;
  readonly store: MemoryGrantStore;
  readonly file: ReceiveFile;
}

/** A target in post-copy whose launcher has restarted. */
async function settle(
  state: FakeLibvirt["state"],
  { stream, grant = committed, source = silent, isProven = false, isStarted = true }: Given = {},
): Promise<Settled> {
  const libvirt: FakeLibvirt = new FakeLibvirt(state, {
    domainDestroy: () => {
      libvirt.state = "absent";
      return {};
    },
    ...(stream !== undefined && {
      qemuMonitorCommand: () => ({ result: JSON.stringify({ return: { status: stream } }) }),
    }),
  });
  const store = new MemoryGrantStore();
  store.grant = grant as typeof store.grant;
  const file = new ReceiveFile(directory(), migration.migrationUID);
  file.receive({ ...migration, paused: false });
  if (isStarted) file.noteStarted();
  const parts = {
    ...{ libvirt, resume: libvirt, source, domain, migration, file },
    ...{ listen: "unix:///in.sock", grant: targetGrant(store, targetHolder) },
  };
  const settled = await settleTarget(parts, isProven ? { proofs: proofOfSource } : {});
  return { settled, libvirt, store, file };
}

/** It waits for this reason, and nothing was decided or ended. */
function expectKept({ settled, libvirt, file }: Settled, why: RegExp): void {
  expect(settled).toMatchObject({ target: "waits", why: expect.stringMatching(why) });
  expect(file.heard()).toBeUndefined();
  expect(libvirt.changes.filter((name) => name !== "qemuMonitorCommand")).toEqual([]);
}

test.each(["paused (user)", "paused (ioError)"])(
  "a copy that ran in post-copy and is %s is not ended, although its source is proven to have ended",
  async (state) => {
    const settled = await settle(state, { isProven: true, stream: "active" });
    expectKept(settled, /^the copy is paused .*does not say that it is complete: if it stays/);
    expectKept(await settle(state, { isProven: true }), /end this launcher Pod/);
  },
);

test.each([
  ["the source is proven to have ended", true],
  ["the source is silent", false],
])(
  "a copy that its user paused in post-copy is claimed once it is complete, if %s",
  async (_, isProven) => {
    const { settled, store, libvirt } = await settle("paused (user)", {
      isProven,
      stream: "completed",
    });
    expect(settled).toMatchObject({ target: "runs" });
    expect(store.grant).toMatchObject({ state: "Claimed", epoch: 2, holder: targetHolder });
    expect(libvirt.state).toBe("paused (user)");
  },
);

test.each([
  ["says that it has aborted", { source: saying("aborted") }],
  ["says that it has returned", { source: saying("returned") }],
  ["has the grant again", { grant: backAtSource }],
])("a copy that has run in post-copy is kept for a person if the source %s", async (_, given) => {
  for (const state of ["paused (user)", "paused (postcopyFailed)", "running (postcopyFailed)"]) {
    expectKept(
      await settle(state, given),
      /it has begun to run in post-copy|recover the post-copy/,
    );
  }
});

test.each(["paused (migration)", "paused (user)"])(
  "a copy that is %s and was never started is ended once its source is proven to have ended",
  async (state) => {
    const { settled, libvirt } = await settle(state, { isProven: true, isStarted: false });
    expect(settled).toEqual({ target: "ended" });
    expect(libvirt.state).toBe("absent");
  },
);

test("a copy that this target has claimed is its own, whether its user has paused it or not", async () => {
  const grant = { ...backAtSource, epoch: 2, holder: targetHolder };
  for (const state of ["paused (user)", "running (migrated)"]) {
    const { settled, libvirt } = await settle(state, { grant });
    expect(settled).toMatchObject({ target: "runs" });
    expect(libvirt.changes).toEqual([]);
  }
});

test.each([
  ["running (postcopyFailed)", false, /the source must recover the post-copy; if that cannot/],
  ["running (postcopy)", false, /its memory arrives$/],
  ["running (postcopy)", true, /QEMU has not given up the stream.*end this launcher Pod/],
])(
  "a copy that is %s waits, and says for what (source proven to have ended: %s)",
  async (state, isProven, why) => {
    expectKept(await settle(state, { isProven }), why);
  },
);

test.each([
  ["running (postcopyFailed)", "postcopy-paused"],
  ["paused (postcopyFailed)", "postcopy-paused"],
  // Its QEMU does not answer.
  ["running (postcopyFailed)", undefined],
])(
  "a copy that is %s and whose source is proven to have ended is ended, for nobody has the rest of its memory: %s",
  async (state, stream) => {
    const given = { isProven: true, ...(stream !== undefined && { stream }) };
    const { settled, libvirt, file } = await settle(state, given);
    expect(settled).toEqual({ target: "ended" });
    expect(libvirt.state).toBe("absent");
    expect(file.heard()).toBe("aborted");
  },
);

test("a copy whose post-copy libvirt calls failed is claimed if its QEMU says that it is complete", async () => {
  const given = { isProven: true, stream: "completed" };
  const { settled, libvirt } = await settle("running (postcopyFailed)", given);
  expect(settled).toMatchObject({ target: "runs" });
  expect(libvirt.state).toBe("running (postcopyFailed)");
});
