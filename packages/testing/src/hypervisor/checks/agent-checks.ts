import assert from "node:assert/strict";
import {
  assertState,
  type GuestCheck,
  type GuestCheckContext,
  patience,
  refused,
  start,
  startWithAgent,
  ToldEvents,
  untilAgent,
} from "./guest-check.ts";

/** What the guest's agent answers, and what is read about a guest. */
export const agentChecks: readonly GuestCheck[] = [
  {
    name: "nothing answers before the agent connects; then it answers, and runs programs",
    async check(context) {
      const { guest, until } = context;
      await using told = new ToldEvents(guest);
      assert.equal((await start(context)).agent, "disconnected");
      await refused(guest.guestPing({ timeoutSeconds: 1 }), "DOMAIN_AGENT");
      await refused(guest.exec({ command: "/bin/true" }), "DOMAIN_AGENT");
      await refused(guest.freeze({ unfreezeAfterSeconds: 0 }), "DOMAIN_AGENT");
      await untilAgent(context);
      await until(() => told.stages.at(-1) === "stage agent-connected done");
      const args = ["-c", "echo out; echo oops >&2; exit 3"];
      assert.deepEqual(await guest.exec({ command: "/bin/sh", args, timeoutSeconds: 60 }), {
        exitCode: 3,
        stdout: "out\n",
        stderr: "oops\n",
      });
      await until(async () => (await guest.status(patience)).fsFreeze === "thawed");
      await guest.pause(patience);
      await refused(guest.exec({ command: "/bin/true" }), "DOMAIN_STATE");
    },
  },
  {
    name: "file systems are frozen and thawed, by hand or by themselves",
    async check(context) {
      const { guest, until } = context;
      await startWithAgent(context);
      await guest.freeze({ unfreezeAfterSeconds: 0 }, patience);
      await guest.freeze({ unfreezeAfterSeconds: 0 }, patience);
      await until(async () => (await guest.status(patience)).fsFreeze === "frozen");
      // An agent runs no program that could write while it holds the file systems still.
      await refused(guest.exec({ command: "/bin/true" }), "DOMAIN_AGENT");
      await guest.unfreeze(patience);
      await guest.unfreeze(patience);
      await isWriting(context);
      await guest.freeze({ unfreezeAfterSeconds: 1 }, patience);
      await until(async () => await isWriting(context).then(...asAnswer));
      await until(async () => (await guest.status(patience)).fsFreeze === "thawed");
    },
  },
  {
    name: "a guest that does not exist is not queried, and does not need to be ended",
    async check({ guest, request }) {
      await guest.shutdown(patience);
      await guest.kill(patience);
      await guest.delete(patience);
      await guest.guestPing({ timeoutSeconds: 1 });
      for (const call of [
        async () => await guest.pause(patience),
        async () => await guest.unpause(request().mayRun, patience),
        async () => await guest.softReboot(patience),
        async () => await guest.reset(patience),
        async () => await guest.freeze({ unfreezeAfterSeconds: 0 }, patience),
        async () => await guest.exec({ command: "/bin/true" }),
        async () => await guest.stats(patience),
        async () => await guest.screenshot(patience),
      ]) {
        await refused(call(), "DOMAIN_MISSING");
      }
    },
  },
  {
    name: "a guest that has ended is left as it is",
    async check(context) {
      const { guest, request, dumpPath } = context;
      await start(context);
      await guest.kill(patience);
      await guest.pause(patience);
      await guest.unpause(request().mayRun, patience);
      for (const call of [
        async () => await guest.softReboot(patience),
        async () => await guest.reset(patience),
        async () => await guest.unfreeze(patience),
        async () => await guest.exec({ command: "/bin/true" }),
        async () => await guest.guestPing({ timeoutSeconds: 1 }),
        async () => await guest.users(patience),
        async () => await guest.stats(patience),
        async () => await guest.memoryDump({ path: dumpPath }, patience),
      ]) {
        await refused(call(), "DOMAIN_STATE");
      }
      await assertState(context, "Shutoff", "Destroyed");
    },
  },
  {
    name: "counters and a picture of the screen are read while it runs",
    async check(context) {
      const { guest } = context;
      await start(context);
      const stats = await guest.stats(patience);
      assert.deepEqual(
        ["state.state", "vcpu.current", "block.count", "block.0.name"].map((key) => stats[key]),
        [1, 1, 1, "vda"],
      );
      const { mime, data } = await guest.screenshot(patience);
      assert.match(mime, /^image\//);
      assert.ok(data.length > 0);
    },
  },
  {
    name: "a guest is paused while its memory is dumped, and then continues",
    async check(context) {
      const { guest, until, dumpPath } = context;
      await start(context);
      await refused(guest.memoryDump({ path: "not/absolute" }, patience), "DOMAIN_ARGUMENT");
      await using told = new ToldEvents(guest);
      await guest.memoryDump({ path: dumpPath });
      await assertState(context, "Running", "Unknown");
      await until(() => told.states.at(-1) === "Running Unknown");
      // How soon events are looked at decides whether the pause is seen.
      const others = told.states.filter((state) => state !== "Running Unknown");
      assert.deepEqual(others, others.length > 0 ? ["Paused Dump"] : []);
    },
  },
];

async function isWriting({ guest }: GuestCheckContext): Promise<void> {
  const { exitCode } = await guest.exec({ command: "/bin/true", timeoutSeconds: 60 });
  assert.equal(exitCode, 0);
}

const asAnswer: [() => boolean, () => boolean] = [() => true, () => false];
