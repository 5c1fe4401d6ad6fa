import { until } from "@virtkit/api/clock";
import { type Log, silentLog } from "@virtkit/api/observe";
import { defineResource, type KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { followConfiguration } from "./follow-configuration.ts";
import { clusterWithDefinitions } from "./testing/cluster-with-definitions.ts";

const namespace = "kubevirt";
const kubevirts = defineResource({
  ...{ group: "kubevirt.io", version: "v1", plural: "kubevirts", kind: "KubeVirt" },
});
const patience = { interval: 5, timeout: 10_000 };

test("the configuration follows the KubeVirt object; an invalid one changes nothing and is logged", async () => {
  const client = await clusterWithDefinitions(namespace);
  const stop = new AbortController();
  const told: unknown[] = [];
  const log: Log = { ...silentLog, error: (details: unknown) => void told.push(details) };
  const store = await followConfiguration({ client, namespace, signal: stop.signal, log });
  expect(store.current.gate("HostDisk")).toBe(false);

  const configuration = { developerConfiguration: { featureGates: ["HostDisk"] } };
  const object = { metadata: { name: "kubevirt", namespace }, spec: { configuration } };
  await client.create(kubevirts, object as KubeObject);
  expect(await until(async () => store.current.gate("HostDisk"), patience)).toBe(true);

  const change = async (body: object): Promise<unknown> =>
    await client.patch(kubevirts, { namespace, name: "kubevirt" }, { type: "merge", body });
  // The definition allows any string; the configuration says which are valid.
  const broken = { developerConfiguration: { featureGates: [] } };
  await change({ spec: { configuration: { ...broken, imagePullPolicy: "Sometimes" } } });
  expect(await until(async () => told.length > 0, patience)).toBe(true);
  expect(JSON.stringify(told)).toContain("Sometimes");
  expect(store.current.gate("HostDisk")).toBe(true);

  let calls = 0;
  store.subscribe(() => calls++);
  const status = { phase: "Deployed", defaultArchitecture: "arm64" };
  for (const outdatedVirtualMachineInstanceWorkloads of [1, 2, 3]) {
    const body = { status: { ...status, outdatedVirtualMachineInstanceWorkloads } };
    const place = { namespace, name: "kubevirt" };
    await client.patch(kubevirts, place, { type: "merge", body }, { subresource: "status" });
  }
  await change({ spec: { configuration: { imagePullPolicy: "Always" } } });
  const isValid = async (): Promise<boolean> =>
    store.current.configuration.imagePullPolicy === "Always";
  expect(await until(isValid, patience)).toBe(true);
  // Of the status, only the architecture configures something, and the first of these was not valid.
  expect(calls).toBe(1);
  expect(store.current.defaultArchitecture).toBe("arm64");

  await client.delete(kubevirts, { namespace, name: "kubevirt" });
  expect(await until(async () => !store.current.gate("HostDisk"), patience)).toBe(true);
  stop.abort();
});
