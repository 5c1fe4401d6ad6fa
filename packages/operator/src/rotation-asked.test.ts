import { ConfigStore } from "@virtkit/api/config";
import type { KubeVirt } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { onRotationAsked, rotationAsked } from "./rotation-asked.ts";

const asking = (time: string): KubeVirt => ({
  metadata: { annotations: { "virtkit.io/rotate-certificates": time } },
  spec: {},
});

test("a rotation is requested with a time that has come", () => {
  const store = new ConfigStore();
  const now = new Date("2030-01-01T12:00:00Z");
  expect(rotationAsked(store.current, now)).toBeUndefined();
  store.update(asking("2030-01-01T12:00:00+01:00"));
  expect(rotationAsked(store.current, now)?.toISOString()).toBe("2030-01-01T11:00:00.000Z");
  for (const time of ["2030-01-01T13:00:00Z", "tomorrow", ""]) {
    store.update(asking(time));
    expect(rotationAsked(store.current, now), time).toBeUndefined();
  }
});

test("carries out each rotation once, and none from before the start", () => {
  const store = new ConfigStore();
  store.update(asking("2020-01-01T00:00:00Z"));
  const rotated: string[] = [];
  onRotationAsked(store, (since) => rotated.push(since.toISOString()));
  for (const day of ["01", "02", "02", "03"]) store.update(asking(`2020-01-${day}T00:00:00Z`));
  expect(rotated).toEqual(["2020-01-02T00:00:00.000Z", "2020-01-03T00:00:00.000Z"]);
});
