import { clusterConfig } from "@virtkit/api/config";
import { quantityFrom } from "@virtkit/api/quantity";
import type { DomainSpec } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { overheadTotal } from "../memory-overhead.ts";
import { render, resources, type Scene, testProfile, testVmi } from "../testing/render.ts";

/** Requests and limits of a domain, minus the overhead, in bytes. */
function memory(domain: Partial<DomainSpec>, scene: Scene = {}): (number | undefined)[] {
  const config = clusterConfig(scene.configuration ?? {});
  const overhead = Number(overheadTotal(testVmi({ domain }), config, testProfile).value());
  const { requests, limits } = resources(render({ domain }, scene));
  return [requests, limits].map((list) => {
    const amount = list?.["memory"];
    return amount === undefined ? undefined : Number(quantityFrom(amount).value()) - overhead;
  });
}

const gibibyte = 1024 ** 3;

test("overhead is added to the request, and to a limit", () => {
  expect(memory({ resources: { requests: { memory: "1Gi" } } })).toEqual([gibibyte, undefined]);
  expect(memory({ resources: { requests: { memory: "1Gi" }, limits: { memory: "2Gi" } } })).toEqual(
    [gibibyte, 2 * gibibyte],
  );
});

test("without a request the limit is the request", () => {
  expect(memory({ resources: { limits: { memory: "2Gi" } } })).toEqual([
    2 * gibibyte,
    2 * gibibyte,
  ]);
});

test("without either the guest's memory is the request, overcommitted as configured", () => {
  const domain = { resources: {}, memory: { guest: "3Gi" } };
  const configuration = { developerConfiguration: { memoryOvercommit: 150 } };
  expect(memory(domain)).toEqual([3 * gibibyte, undefined]);
  expect(memory(domain, { configuration })).toEqual([2 * gibibyte, undefined]);
});

test("overcommitGuestOverhead leaves the overhead out of the request, but never out of a limit", () => {
  const limits = { memory: "2Gi" };
  const domain = {
    resources: { requests: { memory: "1Gi" }, limits, overcommitGuestOverhead: true },
  };
  const { requests } = resources(render({ domain }));
  expect(requests?.["memory"]).toBe("1Gi");
  expect(memory(domain)[1]).toBe(2 * gibibyte);
});

test("hugepages are a separate resource; only the overhead stays memory", () => {
  const domain = {
    resources: { requests: { memory: "1Gi" } },
    memory: { hugepages: { pageSize: "2Mi" } },
  };
  const { requests, limits } = resources(render({ domain }));
  expect([requests?.["hugepages-2Mi"], limits?.["hugepages-2Mi"]]).toEqual(["1Gi", "1Gi"]);
  expect(memory(domain)).toEqual([0, undefined]);
});

test("what is requested beyond a guest's hugepages stays ordinary memory", () => {
  const domain = {
    resources: { requests: { memory: "3Gi" }, limits: { memory: "4Gi" } },
    memory: { guest: "2Gi", hugepages: { pageSize: "1Gi" } },
  };
  expect(resources(render({ domain })).requests?.["hugepages-1Gi"]).toBe("2Gi");
  expect(memory(domain)).toEqual([gibibyte, 2 * gibibyte]);
});

test("a quota on memory limits gives twice the request, or what the namespace's label says", () => {
  const quota = {
    metadata: { name: "q", namespace: "ns" },
    spec: { hard: { "limits.memory": "1" } },
  };
  const ratios = ["1.5", "0.5", "many", undefined].map((ratio) => {
    const labels: Record<string, string> = {};
    if (ratio) labels["alpha.kubevirt.io/auto-memory-limits-ratio"] = ratio;
    const namespaces = [{ metadata: { name: "ns", labels } }];
    const pod = render({}, { objects: { resourceQuotas: [quota], namespaces } });
    const { requests, limits } = resources(pod);
    const [request, limit] = [requests, limits].map((list) =>
      Number(quantityFrom(list?.["memory"] ?? 0).value()),
    );
    return Number(limit) / Number(request);
  });
  expect(ratios).toEqual([1.5, 2, 2, 2]);
});

test("refuses a page size that is not a quantity, with its path", () => {
  const domain = { resources: {}, memory: { hugepages: { pageSize: "big" } } };
  expect(() => render({ domain })).toThrow(
    expect.objectContaining({ path: "spec.domain.memory.hugepages.pageSize" }),
  );
});
