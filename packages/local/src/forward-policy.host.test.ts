import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTool, tryTool } from "./run-tool.ts";
import { serveIn } from "./testing/network-lab.ts";

const outside = "virtkit-test-beyond";
const pod = "virtkit-test-policy";
const port = 28_535;

let server: ChildProcess | undefined;

beforeAll(async () => {
  await runTool("ip", ["netns", "add", outside]);
  server = await serveIn(outside, port);
});

afterAll(async () => {
  server?.kill("SIGKILL");
  for (const namespace of [outside, pod]) await tryTool("ip", ["netns", "delete", namespace]);
});

const isMissing = !existsSync("/usr/sbin/iptables") && !existsSync("/sbin/iptables");
if (isMissing) process.stdout.write("skipped: there is no iptables on this host\n");

test.skipIf(isMissing)(
  "a guest gets out even if iptables drops forwarded traffic, and nothing is left",
  async () => {
    const child = fileURLToPath(new URL("./testing/forward-policy-child.mjs", import.meta.url));
    // The simulated host has its own links, rules and settings.
    const line = ["--net", "--mount", "--", process.execPath, child, outside, pod, `${port}`];
    const told: unknown = JSON.parse(await runTool("unshare", line));
    expect(told).toMatchObject({
      ...{ reached: true, withoutRules: false, isAsBefore: true },
      rules: expect.stringContaining("-A FORWARD -i vkpolicy0 -o up0 -j ACCEPT"),
      tables: expect.not.stringContaining("virtkit_"),
    });
  },
);
