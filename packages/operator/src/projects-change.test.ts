import { ManualClock } from "@virtkit/api/clock";
import { type KubeClient, KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { projectsChange } from "./projects-change.ts";

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

test("notices CDI that is installed later, and an unreachable server is not a change", async () => {
  const state: { cdi: boolean | "silent" } = { cdi: false };
  const clock = new ManualClock();
  const { signal } = new AbortController();
  let changed: boolean | undefined;
  const watching = projectsChange(server(state), installed, { clock, signal }).then((answer) => {
    changed = answer;
  });
  await clock.pass(60_000);
  state.cdi = "silent";
  await clock.pass(60_000);
  expect(changed).toBeUndefined();
  state.cdi = true;
  await clock.pass(60_000);
  await watching;
  expect(changed).toBe(true);
});

test("ends with its signal", async () => {
  const stop = new AbortController();
  const clock = new ManualClock();
  const watching = projectsChange(server({ cdi: true }), installed, { clock, signal: stop.signal });
  stop.abort();
  expect(await watching).toBe(false);
});
