import { ManualClock } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { AccessAgent } from "../disks/access/access-agent.ts";
import type { AccessResult } from "../disks/access/apply-access.ts";
import { sealText } from "../disks/sealed.ts";
import { AccessWatch } from "./access-watch.ts";

const vmi: VirtualMachineInstance = {
  spec: {
    domain: { devices: {} },
    accessCredentials: [
      {
        userPassword: {
          source: { secret: { secretName: "s" } },
          propagationMethod: { qemuGuestAgent: {} },
        },
      },
    ],
  },
};

function room() {
  const clock = new ManualClock();
  const passwords: string[] = [];
  const results: AccessResult[] = [];
  const world = { online: true, password: "first" as string | undefined };
  const agent = {
    ping: async () => {
      if (!world.online) throw new Error("silent");
    },
    setUserPassword: async (_: string, password: string) => void passwords.push(password),
  } as AccessAgent;
  const watch = new AccessWatch({
    clock,
    readSecrets: async ([directory = ""]) =>
      world.password === undefined
        ? new Map()
        : new Map([[directory, new Map([["root", sealText(world.password)]])]]),
    agent: async () => agent,
    onResult: (result) => results.push(result),
  });
  return { world, passwords, results, watch, clock };
}

test("updates the guest at first, when a Secret changes, and every five minutes", async () => {
  const { world, passwords, results, watch, clock } = room();
  watch.follow(vmi);
  await clock.pass(60_000);
  expect(passwords).toEqual(["first"]);
  world.password = "second";
  await clock.pass(30_000);
  expect(passwords).toEqual(["first", "second"]);
  await clock.pass(315_000);
  expect(passwords).toEqual(["first", "second", "second"]);
  expect(results).toEqual([{ succeeded: true, message: "" }]);
  watch.stop();
  expect(clock.pending).toBe(0);
});

test("retries after a failure, and reports each outcome once", async () => {
  const { world, passwords, results, watch, clock } = room();
  world.online = false;
  watch.follow(vmi);
  watch.follow(vmi);
  await clock.pass(45_000);
  world.online = true;
  await clock.pass(30_000);
  expect(passwords).toEqual(["first"]);
  world.password = undefined;
  await clock.pass(30_000);
  watch.stop();
  expect(results).toMatchObject([
    { succeeded: false, message: "Guest agent is offline" },
    { succeeded: true },
    { succeeded: false, message: expect.stringContaining("s-access-cred") },
  ]);
});

test("does not watch a VMI without credentials for the agent", async () => {
  const { watch, clock } = room();
  watch.follow({ spec: { domain: { devices: {} } } });
  expect(clock.pending).toBe(0);
});
