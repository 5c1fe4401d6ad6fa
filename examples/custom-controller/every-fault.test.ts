import { crds } from "@virtkit/api/crd";
import type { KubeObject } from "@virtkit/kube";
import { perturbationReportText, perturbScenario, type Scenario } from "@virtkit/testing/faults";
import { expect, test } from "vitest";
import { annotation, servicePerVmi, services, vmis } from "./service-per-vmi.mjs";

const [definition] = crds().filter(({ spec }) => spec.names.kind === vmis.kind);
const namespace = "default";

/** A VMI requests a port, then another one, and is replaced by a VMI of the same name. */
const scenario: Scenario = {
  name: "a Service for each VMI",
  cluster: { objects: [definition as unknown as KubeObject] },
  actors: {
    controller: async ({ client, clock, random, signal }) =>
      await servicePerVmi(client, { clock, random }).run({ signal }),
  },
  async play(cluster) {
    const client = cluster.client("user");
    const ask = async (ports: string) => {
      const metadata = { namespace, name: "demo", annotations: { [annotation]: ports } };
      await client.create(vmis, { metadata, spec: { domain: { devices: {} } } } as KubeObject);
    };
    const at = { namespace, name: "demo" };
    await ask("22");
    await cluster.clock.pass(5000);
    const body = { metadata: { annotations: { [annotation]: "80" } } };
    await client.patch(vmis, at, { type: "merge", body });
    await cluster.clock.pass(5000);
    await client.delete(vmis, at);
    await ask("443");
    await cluster.settle({ quiet: 120_000 });
    const { items } = await client.list(services);
    const vmi = await client.get(vmis, at);
    expect(
      items.map(({ spec, metadata }) => [spec.ports[0]?.port, metadata.ownerReferences?.[0]?.uid]),
    ).toEqual([[443, vmi.metadata.uid]]);
  },
};

test("the Service is right in the end, whatever goes wrong, and a new VMI of the same name gets its own", async () => {
  const report = await perturbScenario(scenario);
  expect(perturbationReportText(report)).toBe(
    `a Service for each VMI: ${report.runs} perturbations, 0 found something`,
  );
  expect(report.runs).toBeGreaterThan(15);
});
