import { ManualClock } from "@virtkit/api/clock";
import { silentLog } from "@virtkit/api/observe";
import { DomainManagerError, type DomainStatus } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { shutDownOrKill } from "./stop-guest.ts";

/** A guest that notes what is asked of it, and when. */
function guestWith(shutdown: (times: number) => Promise<"obeys" | "ignores">) {
  const clock = new ManualClock();
  const calls: string[] = [];
  let state: DomainStatus["state"] = "Running";
  let asked = 0;
  const note = (verb: string): void => {
    calls.push(`${verb} at ${clock.now()}`);
  };
  const client = {
    status: async () => ({ state }) as DomainStatus,
    shutdown: async () => {
      note("shutdown");
      if ((await shutdown(++asked)) === "obeys") state = "Shutoff";
    },
    kill: async () => {
      note("kill");
      state = "Shutoff";
    },
    delete: async () => note("delete"),
  };
  return { clock, calls, client };
}

test("a guest that shuts down on the second request is not killed", async () => {
  const { clock, calls, client } = guestWith(async (times) => (times === 2 ? "obeys" : "ignores"));
  const stopped = shutDownOrKill(client, { gracePeriod: 30, clock });
  await clock.pass(30_000);
  await stopped;
  expect(calls).toEqual(["shutdown at 0", "shutdown at 5000", "delete at 5100"]);
});

test("a guest that does not shut down is killed when its grace period is over, not sooner, and that is reported", async () => {
  const { clock, calls, client } = guestWith(async () => "ignores");
  const told: unknown[] = [];
  const log = { ...silentLog, warn: (...line: unknown[]) => told.push(line) };
  const metrics = { count: (name: string) => told.push(name), observe: () => {} };
  const stopped = shutDownOrKill(client, { gracePeriod: 12, clock, log, metrics });
  await clock.pass(11_999);
  expect(calls).toEqual(["shutdown at 0", "shutdown at 5000", "shutdown at 10000"]);
  await clock.pass(1);
  await stopped;
  expect(calls.slice(3)).toEqual(["kill at 12000", "delete at 12000"]);
  expect(told).toEqual([
    [{ gracePeriod: 12 }, expect.stringContaining("killed")],
    "guests_killed_after_grace",
  ]);
});

test("a guest without a grace period is killed at once, without a request", async () => {
  const { clock, calls, client } = guestWith(async () => "obeys");
  await shutDownOrKill(client, { gracePeriod: 0, clock });
  expect(calls).toEqual(["kill at 0", "delete at 0"]);
});

test("a guest that cannot be asked is asked again, and the failure is logged", async () => {
  const { clock, calls, client } = guestWith(async (times) => {
    if (times === 1) throw new DomainManagerError("DOMAIN_LIBVIRT", "busy", { path: "shutdown" });
    return "obeys";
  });
  const told: unknown[] = [];
  const log = { ...silentLog, warn: (...line: unknown[]) => told.push(line) };
  const stopped = shutDownOrKill(client, { gracePeriod: 30, clock, log });
  await clock.pass(30_000);
  await stopped;
  expect(calls.filter((call) => call.startsWith("kill"))).toEqual([]);
  expect(told).toEqual([[{ error: "DOMAIN_LIBVIRT: busy" }, expect.any(String)]]);
});

test("the signal ends it at once: the guest is neither killed nor deleted", async () => {
  const { clock, calls, client } = guestWith(async () => "ignores");
  const stop = new AbortController();
  const stopped = shutDownOrKill(client, { gracePeriod: 30, clock, signal: stop.signal });
  const ended = expect(stopped).rejects.toThrow("enough");
  await clock.pass(1_000);
  stop.abort(new Error("enough"));
  await ended;
  expect(calls).toEqual(["shutdown at 0"]);
});
