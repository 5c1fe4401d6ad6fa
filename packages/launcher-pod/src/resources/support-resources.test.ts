import { clusterConfig } from "@virtkit/api/config";
import { expect, test } from "vitest";
import { type SupportDefaults, supportResources } from "./support-resources.ts";

const defaults: SupportDefaults = {
  type: "virtiofs",
  requests: { cpu: "1m", memory: "2M" },
  limits: { cpu: "3m", memory: "4M" },
};

test("a helper has its defaults, and requests equal to limits in a Guaranteed Pod", () => {
  const config = clusterConfig();
  expect(supportResources(config, defaults, false)).toEqual({
    requests: defaults.requests,
    limits: defaults.limits,
  });
  expect(supportResources(config, defaults, true).requests).toEqual(defaults.limits);
});

test("the configuration sets each amount by kind; zero counts as unset", () => {
  const config = clusterConfig({
    supportContainerResources: [
      { type: "sidecar", resources: { limits: { cpu: "9" } } },
      { type: "virtiofs", resources: { requests: { memory: "1Gi" }, limits: { cpu: "0" } } },
    ],
  });
  expect(supportResources(config, defaults, false)).toEqual({
    requests: { cpu: "1m", memory: "1Gi" },
    limits: { cpu: "3m", memory: "4M" },
  });
});
