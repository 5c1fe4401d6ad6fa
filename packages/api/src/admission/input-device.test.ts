import { expect, test } from "vitest";
import { type Change, type ClusterOptions, deviceVerdict } from "../testing/verdict.ts";

const at = "spec.domain.devices";

test.each<[Change, ClusterOptions, string[]]>([
  [{ inputs: [{ name: "i", type: "tablet", bus: "virtio" }] }, {}, []],
  [{ inputs: [{ name: "i", type: "tablet", bus: "ps2" }] }, {}, [`Invalid ${at}.inputs[0].bus`]],
  [{ inputs: [{ name: "i", type: "mouse" }] }, {}, [`Invalid ${at}.inputs[0].type`]],
  [{ inputs: [{ name: "i" }] }, {}, [`Invalid ${at}.inputs[0].type`]],
])("%j %j: %j", (devices, options, expected) => {
  expect(deviceVerdict(devices, options)).toEqual(expected);
});
