import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { firstLine, requestOf, startRoom } from "./launcher-room.mjs";

/** @typedef {Awaited<ReturnType<typeof startRoom>>} Room */

/** @type {Promise<Room> | undefined} */
let room;
const prepare = async () => {
  room ??= startRoom();
  const started = await room;
  await started.clear();
  return started;
};
const close = async () => {
  const started = await room;
  room = undefined;
  await started?.clear();
  await started?.close();
};
const available = () =>
  (process.getuid?.() === 0 && existsSync("/usr/sbin/libvirtd")) || "needs root and libvirtd";

/** Thrown in place of `domainCreate`: what comes after it is not ours. */
class Reached extends Error {}

/**
 * Everything between a manifest and the call that starts QEMU.
 * @param {Room} started
 */
async function untilCreate({ libvirt, manager }) {
  const stopping = new Proxy(libvirt, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (/** @type {unknown[]} */ ...args) => {
        if (name === "call" && args[0] === "domainCreate") return Promise.reject(new Reached());
        return Reflect.apply(value, target, args);
      };
    },
  });
  const guest = await manager(stopping);
  await guest.syncVmi(requestOf(), { timeout: 60_000 }).catch((error) => {
    if (!(error.cause instanceof Reached)) throw error;
  });
  await guest[Symbol.asyncDispose]();
  return 1;
}

/** A launcher does this once, with cold code: milliseconds of CPU time in a new process. */
function coldCpu() {
  if (available() !== true) return "not known";
  const program = `
    import { startRoom } from "./launcher-room.mjs";
    import { untilCreate } from "./guest.bench.mjs";
    const room = await startRoom();
    const before = process.cpuUsage();
    await untilCreate(room);
    const { user, system } = process.cpuUsage(before);
    console.log(((user + system) / 1000).toFixed(0) + " ms");
    await room.clear();
    await room.close();`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    encoding: "utf8",
    env: { ...process.env, VIRTKIT_BENCH_CHILD: "1" },
  }).trim();
}

/**
 * Creates the guest's disks and writes the document that we define, so that `virsh` can define the
 * same.
 * @param {Room} started
 */
async function definitionOf(started) {
  await untilCreate(started);
  const path = `${started.daemon.directory}/bench.xml`;
  writeFileSync(path, await started.daemon.virsh("dumpxml", "--inactive", started.domain));
  await started.daemon.virsh("undefine", started.domain);
  return path;
}

export { untilCreate };

const isChild = process.env["VIRTKIT_BENCH_CHILD"] !== undefined;
const wanted = "guest".includes(process.argv[2] ?? "");

export const benchmarks = [
  {
    name: `guest: our CPU time from manifest to domainCreate (${isChild || !wanted ? "" : coldCpu()} in a new process)`,
    clock: /** @type {const} */ ("cpu"),
    goal: "at most 150000 us",
    available,
    close,
    subject: { name: "sync", prepare, run: untilCreate },
  },
  {
    name: "guest: manifest to the first line on the serial console",
    clock: /** @type {const} */ ("wall"),
    goal: "at least 0.9",
    available,
    close,
    subject: {
      name: "sync",
      prepare,
      /** @param {Room} started */
      run: async ({ libvirt, manager, serialLog }) => {
        const guest = await manager(libvirt);
        await guest.syncVmi(requestOf(), { timeout: 60_000 });
        await firstLine(serialLog);
        await guest[Symbol.asyncDispose]();
        return 1;
      },
    },
    baseline: {
      name: "virsh define and start of the same XML",
      prepare: async () => {
        const started = await prepare();
        return { started, path: await definitionOf(started) };
      },
      /** @param {{ started: Room, path: string }} input */
      run: async ({ started: { daemon, domain, serialLog }, path }) => {
        await daemon.virsh("define", path);
        await daemon.virsh("start", domain);
        await firstLine(serialLog);
        return 1;
      },
    },
  },
];
