import { stages } from "@virtkit/api/timeline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { DemoHost } from "../testing/demo-host.ts";

let host: DemoHost;

beforeAll(async () => {
  // A guest that already runs is killed at once instead of being asked to shut down.
  host = await DemoHost.make((text) =>
    text.replace(/terminationGracePeriodSeconds: \d+/, "terminationGracePeriodSeconds: 0"),
  );
});

afterEach(async () => {
  await host.virtkit("rm", "--now", "demo");
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

/**
 * Removing the parts takes a tenth of a second, on a busy host much more. Waiting for a launcher to become
 * ready before handling the signal would take a minute.
 */
const limit = 45_000;

test.each(stages)(
  "a run that is interrupted after %s is removed at once, and nothing is left",
  async (stage) => {
    const run = host.run();
    await run.untilSaid(new RegExp(` ${stage} `));
    const pods = host.podUids();
    expect(pods).toHaveLength(1);
    const begun = performance.now();
    run.child.kill("SIGINT");
    const { code, err } = await run.end();
    expect(err).toContain("is removed");
    expect({ code, isInTime: performance.now() - begun < limit }).toEqual({
      code: 130,
      isInTime: true,
    });
    expect(await host.leftovers(pods)).toEqual([]);
    expect(await host.files()).toEqual([]);
    expect(host.podFolders()).toEqual([]);
  },
  300_000,
);

test("SIGTERM does the same, and the exit code says which signal it was", async () => {
  const run = host.run();
  await run.untilSaid(/launcher-ready /);
  const pods = host.podUids();
  run.child.kill("SIGTERM");
  expect((await run.end()).code).toBe(143);
  expect(await host.leftovers(pods)).toEqual([]);
});

test("a run that is interrupted at any moment while its Pod is created leaves nothing", async () => {
  for (let delay = 0; delay <= 240; delay += 20) {
    const run = host.run();
    await run.untilSaid(/scheduled /);
    const pods = host.podUids();
    setTimeout(() => run.child.kill("SIGINT"), delay);
    const { code } = await run.end();
    expect({ delay, code, left: await host.leftovers(pods) }).toEqual({
      delay,
      code: 130,
      left: [],
    });
    expect(await host.files()).toEqual([]);
  }
}, 300_000);
