import { expect, test } from "vitest";
import { ConfigStore } from "./config-store.ts";

test("a store starts with the defaults", () => {
  expect(new ConfigStore({ cpuArchitecture: "arm64" }).current.defaultArchitecture).toBe("arm64");
});

test("applies a valid configuration, and keeps the last valid one after an invalid one", () => {
  const store = new ConfigStore();
  const taken = store.update({ cpuModel: "Haswell" });
  expect(taken).toMatchObject({ accepted: true, problems: [] });
  expect(store.current).toBe(taken.config);
  const refused = store.update({ cpuModel: "Penryn", imagePullPolicy: "Sometimes" });
  expect(refused).toMatchObject({
    accepted: false,
    config: taken.config,
    problems: [{ path: "spec.configuration.imagePullPolicy" }],
  });
  expect(store.current.cpuModel).toBe("Haswell");
});

test("calls listeners for each applied configuration until they unsubscribe", () => {
  const store = new ConfigStore();
  const heard: (string | undefined)[] = [];
  const stop = store.subscribe((config) => heard.push(config.cpuModel));
  store.update({ cpuModel: "a" });
  store.update({ imagePullPolicy: "Sometimes" });
  stop();
  store.update({ cpuModel: "b" });
  expect(heard).toEqual(["a"]);
});
