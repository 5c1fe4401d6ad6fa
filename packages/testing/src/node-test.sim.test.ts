import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** A test of a user who has no other test runner than Node's. */
const story = (label: string) => `
import assert from "node:assert/strict";
import test from "node:test";
import { createTestCluster } from "@virtkit/testing/cluster";
import { shakeReportText, shakeScenario } from "@virtkit/testing/faults";

const maps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const at = { namespace: "default", name: "a" };

test("a cluster starts and settles", async () => {
  const cluster = await createTestCluster({ nodes: 2 });
  await cluster.client().create(maps, { metadata: at });
  await cluster.settle();
  assert.equal(cluster.writes("test").length, 1);
});

test("a labeller survives", async () => {
  const report = await shakeScenario({
    name: "a label for each ConfigMap",
    actors: {
      async labeller({ client, clock, signal }) {
        while (!signal.aborted) {
          for (const { metadata } of (await client.list(maps, { namespace: "default" })).items) {
            const body = { metadata: { labels: { seen: "yes" } } };
            if (!metadata.labels?.seen) await client.patch(maps, at, { type: "merge", body });
          }
          await new Promise((resolve) => clock.setTimeout(resolve, 1000));
        }
      },
    },
    async play(cluster) {
      await cluster.client("user").create(maps, { metadata: at });
      await cluster.settle();
      const { metadata } = await cluster.client("user").get(maps, at);
      assert.equal(metadata.labels?.seen, "${label}");
    },
  }, { seeds: [1, 2] });
  assert.equal(report.findings.length, 0, shakeReportText(report));
});
`;

async function runNodeTest(source: string): Promise<{ code: number; output: string }> {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const env = { ...process.env, NODE_OPTIONS: "", NODE_TEST_CONTEXT: undefined };
  return await new Promise((resolve) => {
    const args = ["--input-type=module", "--eval", source];
    const child = execFile(process.execPath, args, { cwd, env, timeout: 60_000 }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, output: out + err }),
    );
  });
}

test("everything works under node:test", async () => {
  const { code, output } = await runNodeTest(story("yes"));
  expect(output).toMatch(/pass 2/);
  expect([code, output.includes("fail 0")]).toEqual([0, true]);
});

test("a failure under node:test shows the last changes, the seed and how to replay it", async () => {
  const { code, output } = await runNodeTest(story("no"));
  expect(code).toBe(1);
  expect(output).toContain("again: shakeScenario(scenario, { seeds: [1] })");
  expect(output).toContain("ADDED configmaps default/a");
});
