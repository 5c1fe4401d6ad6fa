import { clusterConfig } from "@virtkit/api/config";
import { expect, test } from "vitest";
import { type HookSidecar, hookSidecarsOf } from "./hook-sidecars.ts";
import { testVmi } from "./testing/render.ts";

const config = clusterConfig();
const key = "hooks.kubevirt.io/hookSidecars";

function sidecars(text: string): HookSidecar[] {
  return hookSidecarsOf(
    testVmi({ metadata: { annotations: { [key]: text } } }),
    config,
    config.names,
  );
}

test("null and empty values count as missing", () => {
  expect(sidecars("null")).toEqual([]);
  expect(sidecars('[null, {"image": "", "args": [], "pvc": null}]')).toEqual([{}, {}]);
});

test("names are case-insensitive, and the last of equal ones counts", () => {
  const text = `[{
    "IMAGE": "a", "imagepullpolicy": "Always", "image": "b", "Command": ["c"], "ARGS": ["d"],
    "configmap": { "Name": "m", "KEY": "k", "hookpath": "/h" },
    "PVC": { "NAME": "p", "volumepath": "/v", "SharedComputePath": "/s" }
  }]`;
  expect(sidecars(text)).toEqual([
    {
      image: "b",
      imagePullPolicy: "Always",
      command: ["c"],
      args: ["d"],
      configMap: { name: "m", key: "k", hookPath: "/h" },
      pvc: { name: "p", volumePath: "/v", sharedComputePath: "/s" },
    },
  ]);
});

test("a null in a list of strings is an empty string", () => {
  expect(sidecars('[{"command": ["a", null]}]')).toEqual([{ command: ["a", ""] }]);
});

test.each([
  ["", ""],
  ["{", ""],
  ["{}", ""],
  ["[7]", "[0]"],
  ['[{"image": 7}]', "[0].image"],
  ['[{}, {"args": "x"}]', "[1].args"],
  ['[{"command": [1]}]', "[0].command"],
  ['[{"configMap": []}]', "[0].configMap"],
  ['[{"pvc": {"name": {}}}]', "[0].pvc.name"],
])("refuses %s at %j", (text, at) => {
  expect(() => sidecars(text)).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_FIELD_INVALID",
      path: `metadata.annotations.${key}${at}`,
    }),
  );
});

test("refuses a plugin that is not registered, whatever its name", () => {
  for (const name of ["nope", "constructor"]) {
    const vmi = testVmi({ devices: { interfaces: [{ name: "a", binding: { name } }] } });
    expect(() => hookSidecarsOf(vmi, config, config.names)).toThrow(
      expect.objectContaining({ path: "spec.domain.devices.interfaces[0].binding.name" }),
    );
  }
});
