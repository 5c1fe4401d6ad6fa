import { clusterConfig } from "@virtkit/api/config";
import { expect, test } from "vitest";
import { type KsmFacts, planKsm } from "./ksm.ts";

const gib = 1024 * 1024;
const config = clusterConfig({ ksmConfiguration: { nodeLabelSelector: {} } });
const facts = { running: false, pagesToScan: 100, totalMemory: 32 * gib, availableMemory: 2 * gib };
const annotation = (
  name: "ksmPagesMax" | "ksmHandlerManaged" | "ksmFreePercent",
  value: string,
) => ({
  [config.names.annotations[name]]: value,
});

test.each<[string, Partial<KsmFacts>, object, unknown]>([
  [
    "begins while memory is short",
    {},
    {},
    { running: true, sleepMilliseconds: 53, pagesToScan: 100 },
  ],
  [
    "does more of it",
    { running: true },
    {},
    { running: true, sleepMilliseconds: 53, pagesToScan: 400 },
  ],
  [
    "does no more than it may",
    { running: true, pagesToScan: 1200 },
    {},
    { running: true, sleepMilliseconds: 53, pagesToScan: 1250 },
  ],
  [
    "does less of it while there is memory",
    { running: true, availableMemory: 20 * gib, pagesToScan: 200 },
    {},
    { running: true, sleepMilliseconds: 133, pagesToScan: 150 },
  ],
  ["ends", { running: true, availableMemory: 20 * gib, pagesToScan: 100 }, {}, { running: false }],
  ["does nothing while there is memory", { availableMemory: 20 * gib }, {}, { running: false }],
  [
    "heeds an override",
    { running: true },
    annotation("ksmPagesMax", "150"),
    { running: true, sleepMilliseconds: 53, pagesToScan: 150 },
  ],
  [
    "passes over one that is out of bounds",
    { running: true },
    annotation("ksmPagesMax", "-1"),
    { running: true, sleepMilliseconds: 53, pagesToScan: 400 },
  ],
  [
    "passes over one that is no number",
    {},
    annotation("ksmFreePercent", "x"),
    { running: true, sleepMilliseconds: 53, pagesToScan: 100 },
  ],
])("the kernel %s", (_, change, annotations, settings) => {
  const plan = planKsm({ ...facts, ...change }, { annotations: { ...annotations } }, config);
  expect(plan).toEqual({
    settings,
    eligible: true,
    managed: (settings as { running: boolean }).running,
  });
});

test("a node that is not named is left alone, unless the agent had switched it on", () => {
  const none = { eligible: false, managed: false };
  const other = clusterConfig();
  expect(planKsm({ ...facts, running: true }, {}, other)).toEqual(none);
  const annotations = annotation("ksmHandlerManaged", "true");
  expect(planKsm({ ...facts, running: true }, { annotations }, other)).toEqual({
    ...none,
    settings: { running: false },
  });
  expect(planKsm(undefined, {}, config)).toEqual(none);
});
