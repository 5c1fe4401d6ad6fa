import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

describe("inputs", () => {
  test("are tablets, on USB by default", () => {
    const inputs = [
      { name: "a", type: "tablet" },
      { name: "b", type: "tablet", bus: "virtio" },
    ];
    expect(domainWith({ devices: { inputs } }).devices.inputs).toEqual([
      { type: "tablet", bus: "usb", alias: { name: "ua-a" } },
      { type: "tablet", bus: "virtio", model: "virtio", alias: { name: "ua-b" } },
    ]);
  });

  test.each([
    ["arm64", [], ["tablet", "keyboard"]],
    ["arm64", [{ name: "t", type: "tablet" }], ["tablet", "keyboard"]],
    ["s390x", [], ["keyboard"]],
    ["amd64", [], []],
  ])("of a display on %s with %j are %j", (architecture, inputs, types) => {
    const found = domainWith({ architecture, devices: { inputs } }).devices.inputs;
    expect(found.map(({ type }) => type)).toEqual(types);
  });

  test("need no keyboard without a display", () => {
    const devices = { autoattachGraphicsDevice: false };
    expect(domainWith({ architecture: "arm64", devices }).devices.inputs).toEqual([]);
  });

  test.each([
    [{ name: "i", type: "tablet", bus: "ps2" }, "spec.domain.devices.inputs[0].bus"],
    [{ name: "i", type: "mouse" }, "spec.domain.devices.inputs[0].type"],
  ])("fail with %j", (input, path) => {
    expect(errorPath({ devices: { inputs: [input] } })).toBe(path);
  });
});
