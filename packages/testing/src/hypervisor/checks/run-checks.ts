import assert from "node:assert/strict";
import type { MayRun } from "@virtkit/domain-manager";
import { assertState, type GuestCheck, patience, refused, start } from "./guest-check.ts";

/** Who may start a guest, and what a sync does. */
export const runChecks: readonly GuestCheck[] = [
  {
    name: "a sync starts the guest",
    async check(context) {
      await assertState(context, "Absent", "NonExistent");
      const status = await start(context);
      assert.deepEqual([status.state, status.reason], ["Running", "Unknown"]);
      assert.match(status.uuid ?? "", /^[\da-f-]{36}$/);
      const { namespace, name } = context.request().vmi.metadata ?? {};
      assert.equal(status.name, `${namespace}_${name}`);
      assert.deepEqual(status.disks, [{ volume: "root", target: "vda" }]);
      assert.equal(status.pending, undefined);
    },
  },
  {
    name: "a second sync changes nothing",
    async check(context) {
      const facts = ({ uuid, state, reason, disks, hardware, pending }: typeof first) => {
        return { uuid, state, reason, disks, hardware, pending };
      };
      const first = await start(context);
      assert.deepEqual(facts(await start(context)), facts(first));
    },
  },
  {
    name: "a sync without a valid proof is refused, and starts nothing",
    async check(context) {
      const { guest, request } = context;
      const none = { ...request(), mayRun: {} as MayRun };
      await refused(guest.syncVmi(none, patience), "DOMAIN_NOT_GRANTED");
      for (const grant of [{ podUid: "another" }, { vmiUid: "another" }]) {
        await refused(guest.syncVmi(request({ grant }), patience), "DOMAIN_NOT_GRANTED");
      }
      await assertState(context, "Absent", "NonExistent");
    },
  },
  {
    name: "a proof that is older than one seen before is refused",
    async check({ guest, request }) {
      await guest.syncVmi(request({ grant: { epoch: 2 } }), patience);
      await guest.pause(patience);
      await refused(guest.unpause(request().mayRun, patience), "DOMAIN_NOT_GRANTED");
      await refused(guest.syncVmi(request(), patience), "DOMAIN_NOT_GRANTED");
      await guest.unpause(request({ grant: { epoch: 3 } }).mayRun, patience);
    },
  },
  {
    name: "a VMI of another name is refused",
    async check({ guest, request }) {
      const { vmi, ...rest } = request();
      const other = { ...vmi, metadata: { ...vmi.metadata, name: "another" } };
      await refused(guest.syncVmi({ ...rest, vmi: other }, patience), "DOMAIN_ARGUMENT");
    },
  },
  {
    name: "a guest that starts paused stays paused, even across a sync, until it is unpaused",
    async check(context) {
      const { guest, request } = context;
      const paused = request({ spec: { startStrategy: "Paused" } });
      const status = await guest.syncVmi(paused, patience);
      assert.deepEqual([status.state, status.reason], ["Paused", "User"]);
      await guest.syncVmi(paused, patience);
      await assertState(context, "Paused", "User");
      await guest.unpause(paused.mayRun, patience);
      await assertState(context, "Running", "Unknown");
    },
  },
  {
    name: "a guest that has ended is not started again by a sync",
    async check(context) {
      await start(context);
      await context.guest.kill(patience);
      const status = await start(context);
      assert.deepEqual([status.state, status.reason], ["Shutoff", "Destroyed"]);
    },
  },
  {
    name: "a guest is deleted only once it has ended, and nothing here runs it again afterwards",
    async check(context) {
      const { guest } = context;
      await start(context);
      await refused(guest.delete(patience), "DOMAIN_STATE");
      await assertState(context, "Running", "Unknown");
      await guest.kill(patience);
      await guest.delete(patience);
      await guest.delete(patience);
      await assertState(context, "Absent", "NonExistent");
      await refused(start(context), "DOMAIN_NOT_GRANTED");
    },
  },
];
