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
    "starts when memory is short",
    {},
    {},
    { running: true, sleepMilliseconds: 53, pagesToScan: 100 },
  ],
  [
    "scans more while memory is short",
    { running: true },
    {},
    { running: true, sleepMilliseconds: 53, pagesToScan: 400 },
  ],
  [
    "does not scan more than its maximum",
    { running: true, pagesToScan: 1200 },
    {},
    { running: true, sleepMilliseconds: 53, pagesToScan: 1250 },
  ],
  [
    "scans less while there is enough memory",
    { running: true, availableMemory: 20 * gib, pagesToScan: 200 },
    {},
    { running: true, sleepMilliseconds: 133, pagesToScan: 150 },
  ],
  ["ends", { running: true, availableMemory: 20 * gib, pagesToScan: 100 }, {}, { running: false }],
  ["stays off while there is enough memory", { availableMemory: 20 * gib }, {}, { running: false }],
  [
    "follows an override",
    { running: true },
    annotation("ksmPagesMax", "150"),
    { running: true, sleepMilliseconds: 53, pagesToScan: 150 },
  ],
  [
    "ignores an override that is out of range",
    { running: true },
    annotation("ksmPagesMax", "-1"),
    { running: true, sleepMilliseconds: 53, pagesToScan: 400 },
  ],
  [
    "ignores an override that is not a number",
    {},
    annotation("ksmFreePercent", "x"),
    { running: true, sleepMilliseconds: 53, pagesToScan: 100 },
  ],
])("KSM %s", (_, change, annotations, settings) => {
  const plan = planKsm({ ...facts, ...change }, { annotations: { ...annotations } }, config);
  expect(plan).toEqual({
    settings,
    eligible: true,
    managed: (settings as { running: boolean }).running,
  });
});

test("a node that is not selected is left alone, unless the agent had enabled KSM", () => {
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
