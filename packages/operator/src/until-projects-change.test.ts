import { ManualClock } from "@virtkit/api/clock";
import { type KubeClient, KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { untilProjectsChange } from "./until-projects-change.ts";

const installed = { cdi: false, multus: false };

/** A server that has CDI, does not have it, or does not answer. */
function server(state: { cdi: boolean | "silent" }): KubeClient {
  const request: KubeClient["request"] = async ({ path }) => {
    if (state.cdi === "silent") throw new KubeError("KUBE_TIMEOUT", "no answer");
    if (state.cdi && path.includes("cdi")) return { status: 200, headers: {}, body: "{}" };
    throw new KubeError("KUBE_STATUS", "no", { status: 404, reason: "NotFound" });
  };
  return { request } as KubeClient;
}

test("aborts when CDI is installed later; an unreachable server is not a change", async () => {
  const state: { cdi: boolean | "silent" } = { cdi: false };
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const until = untilProjectsChange(server(state), installed, { clock, signal });
  await clock.pass(60_000);
  state.cdi = "silent";
  await clock.pass(60_000);
  expect(until.aborted).toBe(false);
  state.cdi = true;
  await clock.pass(60_000);
  expect(until.aborted).toBe(true);
});

test("aborts at once with its signal, and then checks nothing", async () => {
  const stop = new AbortController();
  const clock = new ManualClock();
  const { signal } = stop;
  const until = untilProjectsChange(server({ cdi: false }), installed, { clock, signal });
  expect(until.aborted).toBe(false);
  stop.abort();
  expect(until.aborted).toBe(true);
  await clock.pass(60_000);
  expect(clock.pending).toBe(0);
});
