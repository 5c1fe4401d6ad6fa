import { channel } from "node:diagnostics_channel";
import { defineResource } from "@virtkit/kube";
import { createTestCluster } from "@virtkit/testing/cluster";
import { expect, test } from "vitest";
import { RecordedCalls } from "../../../../tools/recorded-calls.mjs";
import { callFeatures } from "./call-features.ts";
import { callChannel } from "./recorded-client.ts";

const maps = defineResource({ version: "v1", plural: "configmaps", kind: "ConfigMap" });

test("records calls to the built packages: scheduler, kubelets and clients", async () => {
  const told = new Set<string>();
  const listen = (features: unknown): void => {
    for (const feature of features as readonly string[]) told.add(feature);
  };
  callChannel.subscribe(listen);
  const cluster = await createTestCluster();
  await cluster.client().create(maps, { metadata: { namespace: "default", name: "a" } });
  callChannel.unsubscribe(listen);
  await cluster[Symbol.asyncDispose]();
  expect([...told]).toEqual(
    expect.arrayContaining(["create core", "patch core/status strategic", "list with limit"]),
  );
});

test("control: a call that no check makes fails its test", () => {
  // Not the channel of this file's own calls, which are checked when it ends.
  const name = "virtkit:testing:calls of a control";
  const resource = maps;
  const known = { verb: "delete", resource, options: { propagationPolicy: "Orphan" } } as const;
  const foreign = { verb: "update", resource, options: { dryRun: true } } as const;
  const sound = new RecordedCalls(name);
  channel(name).publish(callFeatures(known));
  sound.end();
  const calls = new RecordedCalls(name);
  for (const call of [known, foreign]) channel(name).publish(callFeatures(call));
  expect(() => calls.end()).toThrow("covers these calls: update core with dryRun. Add checks");
});
