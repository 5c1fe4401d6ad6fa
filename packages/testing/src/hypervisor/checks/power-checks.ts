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
  untilState,
} from "./guest-check.ts";

/** What the verbs do to a guest, and what is reported about it. */
export const powerChecks: readonly GuestCheck[] = [
  {
    name: "a guest is paused and unpaused, and doing either twice changes nothing",
    async check(context) {
      const { guest, request } = context;
      await start(context);
      await guest.pause(patience);
      await guest.pause(patience);
      await assertState(context, "Paused", "User");
      // Its agent is silent for a good reason: a probe must not count it as dead.
      await guest.guestPing({ timeoutSeconds: 1 });
      await guest.unpause(request().mayRun, patience);
      await guest.unpause(request().mayRun, patience);
      await assertState(context, "Running", "Unknown");
    },
  },
  {
    name: "a paused guest stays paused across a sync, and continues only with a valid proof",
    async check(context) {
      const { guest, request } = context;
      await start(context);
      await guest.pause(patience);
      assert.equal((await start(context)).state, "Paused");
      const { mayRun } = request({ grant: { podUid: "another" } });
      await refused(guest.unpause(mayRun, patience), "DOMAIN_NOT_GRANTED");
      await assertState(context, "Paused", "User");
    },
  },
  {
    name: "a guest that is asked to shut down ends, and its last event says so",
    async check(context) {
      const { guest, until } = context;
      await startWithAgent(context);
      await using told = new ToldEvents(guest);
      await guest.shutdown(patience);
      await untilState(context, "Shutoff");
      await assertState(context, "Shutoff", "Shutdown");
      await until(() => told.states.at(-1) === "Shutoff Shutdown");
      assert.equal(told.states[0], "Running Unknown");
      const { agent, os, hostname, fsFreeze } = await guest.status(patience);
      const forgotten = { os: undefined, hostname: undefined, fsFreeze: undefined };
      assert.deepEqual({ agent, os, hostname, fsFreeze }, { agent: "disconnected", ...forgotten });
      await guest.shutdown(patience);
      await guest.kill(patience);
      await assertState(context, "Shutoff", "Shutdown");
    },
  },
  {
    name: "a guest that is killed has ended when the call returns",
    async check(context) {
      const { guest } = context;
      await start(context);
      await guest.kill(patience);
      await guest.kill(patience);
      await assertState(context, "Shutoff", "Destroyed");
    },
  },
  {
    name: "a paused guest can be killed",
    async check(context) {
      await start(context);
      await context.guest.pause(patience);
      await context.guest.kill(patience);
      await assertState(context, "Shutoff", "Destroyed");
    },
  },
  {
    name: "a guest whose QEMU ends has crashed, and that is reported",
    async check(context) {
      const { guest, until, endFromOutside } = context;
      await start(context);
      await using told = new ToldEvents(guest);
      await endFromOutside("qemu-ends");
      await until(() => told.states.at(-1) === "Shutoff Crashed");
      assert.deepEqual(told.states, ["Running Unknown", "Shutoff Crashed"]);
      assert.equal((await start(context)).state, "Shutoff");
    },
  },
  {
    name: "a paused guest that somebody else destroys has ended, and that is reported",
    async check(context) {
      const { guest, until, endFromOutside } = context;
      await start(context);
      await guest.pause(patience);
      await guest.status(patience);
      await using told = new ToldEvents(guest);
      await endFromOutside("destroyed");
      await until(() => told.states.at(-1) === "Shutoff Destroyed");
      assert.deepEqual(told.states, ["Paused User", "Shutoff Destroyed"]);
    },
  },
  {
    name: "events begin with the status and report each change in order",
    async check(context) {
      const { guest, request, until } = context;
      await using told = new ToldEvents(guest);
      await start(context);
      await until(() => told.lines.includes("stage ready done"));
      await guest.pause(patience);
      await until(() => told.states.at(-1) === "Paused User");
      await guest.unpause(request().mayRun, patience);
      await until(() => told.states.at(-1) === "Running Unknown");
      await guest.kill(patience);
      await until(() => told.states.at(-1) === "Shutoff Destroyed");
      await guest.delete(patience);
      await until(() => told.states.at(-1) === "Absent NonExistent");
      const { states, stages } = told;
      assert.equal(states[0], "Absent NonExistent");
      // On the way to Running a guest is shut off or paused for moments, which are not always seen.
      const running = states.indexOf("Running Unknown");
      assert.deepEqual(states.slice(running), [
        "Running Unknown",
        "Paused User",
        "Running Unknown",
        "Shutoff Destroyed",
        "Absent NonExistent",
      ]);
      const lifeless = stages.filter((stage) => stage !== "stage agent-connected done");
      const expected = ["domain-defined", "guest-running", "ready"];
      assert.deepEqual(
        lifeless,
        expected.map((stage) => `stage ${stage} done`),
      );
    },
  },
  {
    name: "a reset reboots the guest: its agent goes and comes back, and no stage is reported again",
    check: async (context) => await bootsAnew(context, "reset"),
  },
  {
    name: "a guest that is asked to reboot does so in the same way",
    check: async (context) => await bootsAnew(context, "softReboot"),
  },
];

async function bootsAnew(context: GuestCheckContext, verb: "reset" | "softReboot"): Promise<void> {
  const { guest, until } = context;
  await startWithAgent(context);
  const told: string[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of guest.events({ signal: stop.signal })) {
      if (event.kind === "stage") told.push(event.stage);
      if (event.kind !== "status" || event.status.agent === told.at(-1)) continue;
      told.push(event.status.agent);
    }
  })();
  await guest[verb](patience);
  await until(() => told.length >= 3);
  await untilAgent(context);
  await assertState(context, "Running", "Unknown");
  stop.abort();
  await reading;
  assert.deepEqual(told, ["connected", "disconnected", "connected"]);
}
