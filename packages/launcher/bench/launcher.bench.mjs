import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { connectLauncher, launcherNodeFlags } from "@virtkit/launcher/client";
import { createPlace, syncRequest } from "./started-launcher.mjs";

const batch = 200;

/** The other end of the channel, in another process. */
async function startChannel() {
  const directory = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
  const socket = path.join(directory, "s");
  const program = fileURLToPath(new URL("channel-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [...launcherNodeFlags, program, socket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const client = await connectLauncher({ path: socket });
  return {
    client,
    close: async () => {
      await client.close();
      const exited = once(child, "exit");
      child.kill();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startChannel>>} Channel */

/** @type {Promise<Channel> | undefined} */
let channel;
const prepareChannel = () => {
  channel ??= startChannel();
  return channel;
};
const closeChannel = async () => {
  const started = await channel;
  channel = undefined;
  await started?.close();
};

/**
 * @param {string} name
 * @param {number} reference recorded on a machine of this kind
 * @param {(channel: Channel) => Promise<number>} run
 */
const roundTrips = (name, reference, run) => ({
  name: `launcher: channel round trip, ${name}`,
  clock: /** @type {const} */ ("wall"),
  close: closeChannel,
  reference: { name: "grpc-js", microseconds: reference },
  subject: { name, prepare: prepareChannel, run },
});

/** @typedef {Awaited<ReturnType<typeof createPlace>>} Place */

/** @type {Promise<Place> | undefined} */
let place;
let memory = "";

/** Memory with a guest that runs, once; it says nothing about time. @param {Place} place */
async function measureMemory(place) {
  const launcher = await place.start();
  const client = await launcher.connect();
  await client.syncVmi(syncRequest(), { timeout: 100_000 });
  const before = launcher.memory();
  for (let index = 0; index < 2_000; index++) await client.status();
  memory = `at most 80 MiB with a running guest; ${before}, after 2,000 calls ${launcher.memory()}`;
  await client.kill();
  await client.delete();
  await client.close();
  await launcher.stop().catch(() => {});
}

export const benchmarks = [
  roundTrips("one after the other", 685, async ({ client }) => {
    for (let index = 0; index < batch; index++) await client.ping();
    return batch;
  }),
  roundTrips("20 in flight", 280, async ({ client }) => {
    const chain = async () => {
      for (let index = 0; index < batch / 20; index++) await client.ping();
    };
    await Promise.all(Array.from({ length: 20 }, chain));
    return batch;
  }),
  {
    name: "launcher: from start to ready, including libvirtd",
    clock: /** @type {const} */ ("wall"),
    available: () =>
      (process.getuid?.() === 0 && existsSync("/usr/sbin/libvirtd")) || "needs root and libvirtd",
    get goal() {
      return memory;
    },
    close: async () => {
      const made = await place;
      place = undefined;
      await made?.close();
    },
    subject: {
      name: "start",
      prepare: async () => {
        if (!place) {
          place = createPlace();
          await measureMemory(await place);
        }
        return await place;
      },
      run: async (/** @type {Place} */ made) => {
        const launcher = await made.start();
        await launcher.stop();
        return 1;
      },
    },
  },
];
