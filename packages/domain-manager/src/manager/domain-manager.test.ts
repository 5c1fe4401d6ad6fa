import { readdirSync, readFileSync } from "node:fs";
import { names } from "@virtkit/api/names";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectLibvirt } from "../libvirt/libvirt.ts";
import { type FakeDomain, fakeDomain } from "../testing/fake-domain.ts";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { labVmi, syncRequest } from "../testing/vmi-fixture.ts";
import { createDomainManager } from "./create-domain-manager.ts";
import type { DomainManager } from "./domain-manager.ts";
import { MayRun } from "./may-run.ts";

const identity = {
  namespace: "ns",
  name: "vm",
  vmiUid: "5d307ca9-b3ef-428c-8861-06e72d69f223",
  podUid: "pod",
};
const vmi = labVmi(identity, { domain: { devices: { autoattachPodInterface: false } } });
const request = (change = {}) => ({ ...syncRequest(identity, vmi), ...change });
const proof = (change = {}) =>
  MayRun.fromAgent({ vmiUid: identity.vmiUid, podUid: "pod", epoch: 5, ...change });

type Fake = ReturnType<typeof fakeDomain>;

async function managerOf({ daemon }: Fake, root?: string): Promise<DomainManager> {
  const directory = root ?? (await temporaryDirectory()).path;
  const libvirt = await connectLibvirt({ uri: "qemu:///session", dial: daemon.dial });
  const directories = {
    share: `${directory}/share`,
    private: `${directory}/private`,
    ephemeralDisks: `${directory}/ephemeral`,
    libvirt: `${directory}/libvirt`,
  };
  const manager = await createDomainManager({ libvirt, identity, names: names({ directories }) });
  onTestFinished(async () => {
    await manager[Symbol.asyncDispose]();
    await libvirt.close();
  });
  return manager;
}

const xml = "<domain type='kvm'><name>ns_vm</name></domain>";

describe("no vCPU runs without a proof", () => {
  const states: Readonly<Record<string, Partial<FakeDomain>>> = {
    absent: {},
    defined: { xml },
    running: { xml, state: "running", reason: 1 },
    paused: { xml, state: "paused", reason: 1 },
    "stopped by an I/O error": { xml, state: "paused", reason: 5 },
    "shut off": { xml, reason: 1 },
  };
  const proofs: Readonly<Record<string, () => MayRun>> = {
    "of another guest": () => proof({ vmiUid: "other" }),
    "of another Pod": () => proof({ podUid: "other" }),
    "that is outdated": () => proof({ epoch: 4 }),
    "that is forged": () => ({ grant: proof().grant }) as MayRun,
    "that is missing": () => undefined as unknown as MayRun,
  };

  test.each(
    Object.keys(states).flatMap((state) => Object.keys(proofs).map((of) => [state, of] as const)),
  )("%s, with one %s", async (state, of) => {
    const fake = fakeDomain(states[state]);
    const manager = await managerOf(fake);
    // Makes 5 the newest epoch that was seen; the guest is not paused, so this resumes nothing.
    const before = { ...fake.domain };
    Object.assign(fake.domain, { xml, state: "running" });
    await manager.unpause(proof());
    Object.assign(fake.domain, before);
    const mayRun = proofs[of]?.() as MayRun;
    const refused = { code: "DOMAIN_NOT_GRANTED" };
    await expect(manager.syncVmi(request({ mayRun }))).rejects.toMatchObject(refused);
    await expect(manager.unpause(mayRun)).rejects.toMatchObject(refused);
    const changes = fake.daemon.calls.filter(({ name }) => /Create|Resume|Define/.test(name));
    expect(changes).toEqual([]);
  });

  test("only one module calls what starts vCPUs", () => {
    const directory = new URL("../", import.meta.url);
    const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
    const callers = files.filter(
      (file) =>
        file.endsWith(".ts") &&
        !/\.test\.ts$|^testing\/|^libvirt\/protocol\//.test(file) &&
        /\bdomain(Create|CreateXml|Resume|Restore)\b/.test(
          readFileSync(new URL(file, directory), "utf8"),
        ),
    );
    expect(callers).toEqual(["manager/run-vcpus.ts"]);
  });
});

test("a sync defines and starts a guest, then changes nothing", async () => {
  const fake = fakeDomain();
  const manager = await managerOf(fake);
  expect(await manager.syncVmi(request())).toMatchObject({ name: "ns_vm", state: "Running" });
  const { length } = fake.daemon.calls;
  await manager.syncVmi(request());
  const again = fake.daemon.calls.slice(length).map(({ name }) => name);
  expect(again.filter((name) => /Define|Create|Set|Attach|Detach|Update/.test(name))).toEqual([]);
  expect(fake.counts).toEqual({ begun: 1, resumed: 0 });
});

/** The daemon is lost at each call in turn, before or after it has carried it out. */
test.each(["before", "after"])(
  "the next sync repairs a crash %s any call, and the guest starts once",
  async (when) => {
    for (let fatal = 1, reached = true; reached; fatal++) {
      const fake = fakeDomain();
      const { path } = await temporaryDirectory();
      let call = 0;
      fake.intercept = (received, perform) => {
        call++;
        if (call !== fatal) return perform();
        if (when === "after") perform();
        received.connection.end();
        return undefined;
      };
      const first = await managerOf(fake, path).catch(() => undefined);
      await first?.syncVmi(request()).catch(() => {});
      reached = call >= fatal;
      fake.intercept = (_, perform) => perform();
      const second = await managerOf(fake, path);
      expect((await second.syncVmi(request())).state).toBe("Running");
      expect(fake.counts, `call ${fatal}`).toEqual({ begun: 1, resumed: 0 });
      expect(fatal).toBeLessThan(100);
    }
  },
);

test.each([1, 5])(
  "a guest that is paused for reason %i stays so until it is unpaused",
  async (reason) => {
    const fake = fakeDomain({ xml, state: "paused", reason });
    const manager = await managerOf(fake);
    expect((await manager.syncVmi(request())).state).toBe("Paused");
    expect(fake.counts.resumed).toBe(0);
    await manager.unpause(proof());
    await manager.unpause(proof());
    expect(fake.counts).toEqual({ begun: 0, resumed: 1 });
  },
);

test("starts a guest paused if requested", async () => {
  const fake = fakeDomain();
  const manager = await managerOf(fake);
  const paused = { ...request().vmi, spec: { ...request().vmi.spec, startStrategy: "Paused" } };
  expect((await manager.syncVmi(request({ vmi: paused }))).state).toBe("Paused");
  expect((await manager.syncVmi(request({ vmi: paused }))).state).toBe("Paused");
  expect(fake.counts).toEqual({ begun: 1, resumed: 0 });
});

test("a guest whose threads must be placed waits for the next sync, unless a user paused it", async () => {
  const cpu = { cores: 1, dedicatedCpuPlacement: true, isolateEmulatorThread: true };
  const placed = labVmi(identity, { domain: { cpu, devices: { autoattachPodInterface: false } } });
  const cpus = [0, 1].map((id) => ({ id, siblings: [id] }));
  const context = { environment: { cpuSet: [0, 1], topology: { numa_cells: [{ id: 0, cpus }] } } };
  const start = syncRequest(identity, placed, context);
  const fake = fakeDomain();
  const manager = await managerOf(fake);
  expect((await manager.syncVmi(start)).state).toBe("Paused");
  expect((await manager.syncVmi(start)).state).toBe("Running");
  expect(fake.counts).toEqual({ begun: 1, resumed: 1 });
  const other = fakeDomain();
  const second = await managerOf(other);
  await second.syncVmi(start);
  await second.pause();
  expect((await second.syncVmi(start)).state).toBe("Paused");
  expect(other.counts).toEqual({ begun: 1, resumed: 0 });
});

test("does not touch the domain of another VMI", async () => {
  const fake = fakeDomain({ xml, state: "running", metadata: '<run vmi="other"/>' });
  const manager = await managerOf(fake);
  await expect(manager.syncVmi(request())).rejects.toMatchObject({ code: "DOMAIN_STATE" });
});

test.each(["name", "namespace", "uid"])("rejects a VMI with another %s", async (field) => {
  const manager = await managerOf(fakeDomain());
  const other = { ...request().vmi, metadata: { ...request().vmi.metadata, [field]: "x" } };
  await expect(manager.syncVmi(request({ vmi: other }))).rejects.toMatchObject({
    code: "DOMAIN_ARGUMENT",
    path: `vmi.metadata.${field}`,
  });
});

test("ending and deleting take effect once and can be repeated", async () => {
  const fake = fakeDomain();
  const manager = await managerOf(fake);
  await manager.kill();
  await manager.delete();
  await manager.syncVmi(request());
  await expect(manager.delete()).rejects.toMatchObject({ code: "DOMAIN_STATE" });
  await manager.kill();
  await manager.kill();
  expect((await manager.syncVmi(request())).state).toBe("Shutoff");
  await manager.delete();
  await manager.delete();
  await expect(manager.syncVmi(request())).rejects.toMatchObject({ code: "DOMAIN_NOT_GRANTED" });
  expect(fake.counts).toEqual({ begun: 1, resumed: 0 });
});

test.each(["pause", "reset", "softReboot", "stats", "screenshot", "users"] as const)(
  "%s of a missing guest says so",
  async (verb) => {
    const manager = await managerOf(fakeDomain());
    await expect(manager[verb]()).rejects.toMatchObject({ code: "DOMAIN_MISSING" });
  },
);

test.each(["relative", "/a/../b", "/a\0b", "", undefined, 7])(
  "does not dump memory to %j",
  async (path) => {
    const manager = await managerOf(fakeDomain({ xml, state: "running" }));
    await expect(manager.memoryDump({ path: path as never })).rejects.toMatchObject({
      code: "DOMAIN_ARGUMENT",
    });
  },
);
