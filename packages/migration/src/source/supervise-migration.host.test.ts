import { until } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { connectLibvirt, type Libvirt, type Result } from "@virtkit/domain-manager/libvirt";
import { guestDomainXml, type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { destinationXml } from "../target/destination-xml.ts";
import type { MigrationOptions } from "./migration-options.ts";
import type { WatchedProgress } from "./migration-progress.ts";
import { type MigrationPlan, planMigration } from "./plan-migration.ts";
import { superviseMigration } from "./supervise-migration.ts";

type Dom = Result<"domainLookupByName">["dom"];

const vmi: VirtualMachineInstance = {
  metadata: { name: "vm", namespace: "ns", uid: "6a1a24a1-4061-4607-8bf4-a3963d0c5895" },
  spec: { domain: { devices: {}, memory: { guest: "256Mi" } } },
  status: { migrationState: { migrationUid: "m1" } },
};

const options: MigrationOptions = {
  bandwidth: "20Mi",
  progressTimeout: 6,
  completionTimeoutPerGiB: 0,
  maxDowntimeMs: 300,
  unsafe: true,
  allowAutoConverge: false,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
};

let source: Libvirtd;
let target: Libvirtd;
/** Calls of the source, its long call, and calls of the target. */
let control: Libvirt;
let long: Libvirt;
let far: Libvirt;
let dom: Dom;
let definition: string;

beforeAll(async () => {
  [source, target] = await Promise.all([
    startLibvirtd({ hostname: "virtkit-source" }),
    startLibvirtd({ hostname: "virtkit-target" }),
  ]);
  const connect = ({ uri }: Libvirtd): Promise<Libvirt> => connectLibvirt({ uri });
  [control, long, far] = await Promise.all([connect(source), connect(source), connect(target)]);
  const guest = await source.guest();
  definition = guestDomainXml({ name: "ns_vm", guest, cmdline: "hb=none", memoryMiB: 256 });
  await control.call("domainDefineXml", { xml: definition });
  ({ dom } = await control.call("domainLookupByName", { name: "ns_vm" }));
  ({ dom } = await control.call("domainCreate", { dom }));
  const answers = (): Promise<boolean> =>
    inGuest("true").then(
      () => true,
      () => false,
    );
  await until(answers, { interval: 200, timeout: 110_000 });
});

afterAll(async () => {
  for (const client of [control, long, far]) await client?.close();
  await source?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
});

async function inGuest(script: string): Promise<void> {
  const args = { path: "/bin/sh", arg: ["-c", script] };
  const command = JSON.stringify({ execute: "guest-exec", arguments: args });
  await control.call("qemuAgentCommand", { dom, command, timeout: 60 });
}

async function plan(changes: Partial<MigrationOptions> = {}): Promise<MigrationPlan> {
  const { xml } = await control.call("domainGetXmlDesc", { dom, flags: ["migratable"] });
  return planMigration({
    vmi,
    options: { ...options, ...changes },
    domainXml: xml,
    paused: false,
    uris: { memory: `unix://${target.directory}/memory.sock`, disks: "" },
    libvirtVersion: 9_000_000,
  });
}

/** Begins, and has the target wait for the guest with XML of its own. */
async function prepare({ flags, params }: MigrationPlan) {
  const begun = await control.call("domainMigrateBegin", { dom, params, flags });
  const own = parseDomain(definition);
  const xml = destinationXml({ vmi, sourceXml: begun.xml, own });
  const forTarget = { ...params, destination_xml: xml };
  const { cookie } = await far.call("domainMigratePrepare", {
    params: forTarget,
    cookie: begun.cookie,
    flags,
  });
  return { cookie, params: forTarget };
}

/** Performs under supervision; says how that ended and what was seen. */
async function perform(
  { flags, policy }: MigrationPlan,
  { cookie, params }: Awaited<ReturnType<typeof prepare>>,
) {
  const over = new AbortController();
  const seen: WatchedProgress[] = [];
  const reasons: string[] = [];
  const performing = long.call("domainMigratePerform", { dom, params, cookie, flags });
  const supervising = superviseMigration(
    {
      abort: (reason) => {
        reasons.push(reason);
        control.call("domainAbortJob", { dom }).catch(() => {});
      },
      switchToPostCopy: () => Promise.reject(new Error("is not allowed here")),
    },
    {
      policy,
      sample: () => control.call("domainGetJobStats", { dom }),
      iterations: await control.subscribe(["migrationIteration"]),
      suspend: () => Promise.reject(new Error("is not allowed here")),
      setMaxDowntime: async (downtime) => {
        await control.call("domainMigrateSetMaxDowntime", { dom, downtime });
      },
      onProgress: (progress) => seen.push(progress),
    },
    over.signal,
  );
  const outcome = await performing.then(
    ({ cookie: performed }) => ({ performed }),
    (error: unknown) => ({ error }),
  );
  over.abort();
  await supervising;
  return { ...outcome, seen, reasons };
}

test("a guest that writes faster than the link is given up, although the remaining data keeps falling", async () => {
  await inGuest("setsid dirty 48 >/dev/null 2>&1 &");
  const busy = await plan();
  const prepared = await prepare(busy);
  const { seen, reasons, ...outcome } = await perform(busy, prepared);
  expect(outcome).toHaveProperty("error");
  expect(reasons).toEqual([expect.stringContaining("has not decreased")]);
  const last = seen.at(-1);
  expect(last?.iteration).toBeGreaterThan(3);
  // The control: what remains fell from one sample to the next, again and again, to the end.
  const falls = seen.filter(({ remaining }, at) => remaining < (seen[at - 1]?.remaining ?? 0));
  expect((last?.elapsedMs ?? 0) - (falls.at(-1)?.elapsedMs ?? 0)).toBeLessThan(6_000);
  await far
    .call("domainMigrateFinish", { ...prepared, flags: busy.finishFlags, cancelled: true })
    .catch(() => {
      // The broken stream may have ended the target's copy already.
    });
  await inGuest("pkill dirty");
  expect(await source.virsh("domstate", "ns_vm")).toBe("running");
});

test("once calm, it moves by the same plan: paused at the target, complete, with its own XML", async () => {
  const calm = await plan({ bandwidth: "0", progressTimeout: 150 });
  const prepared = await prepare(calm);
  const { performed, seen, reasons } = (await perform(calm, prepared)) as {
    performed: Uint8Array;
    seen: readonly WatchedProgress[];
    reasons: readonly string[];
  };
  expect(reasons).toEqual([]);
  expect(seen.some(({ phase, transferred }) => phase === "memory" && transferred > 0)).toBe(true);
  const finished = await far.call("domainMigrateFinish", {
    params: calm.finishParams,
    cookie: performed,
    flags: calm.finishFlags,
    cancelled: false,
  });
  expect(await target.virsh("domstate", "ns_vm", "--reason")).toBe("paused (user)");
  const { params, flags } = calm;
  const end = { dom, params, cookie: finished.cookie, flags, cancelled: false };
  await control.call("domainMigrateConfirm", end);
  await far.call("domainResume", { dom: finished.dom });
  expect(await target.virsh("domstate", "ns_vm")).toBe("running");
});
