import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const claim = (name: string, rest: Change = { resourceClaimName: "c" }): Change => ({
  name,
  ...rest,
});
const at = "spec.resourceClaims";

test.each<[Change[], string[]]>([
  [[claim("a"), claim("b", { resourceClaimTemplateName: "t.x" })], []],
  [[claim("")], [`Required ${at}[0].name`]],
  [[claim("a"), claim("a")], [`Duplicate ${at}[1].name`]],
  [[claim("A")], [`Invalid ${at}[0].name`]],
  [[claim("a", {})], [`Invalid ${at}[0]`]],
  [[claim("a", { resourceClaimName: "c", resourceClaimTemplateName: "t" })], [`Invalid ${at}[0]`]],
  [[claim("a", { resourceClaimName: "C" })], [`Invalid ${at}[0].resourceClaimName`]],
  [
    [claim("a", { resourceClaimTemplateName: `${"t".repeat(253)}!` })],
    [`Invalid ${at}[0].resourceClaimTemplateName`, `Invalid ${at}[0].resourceClaimTemplateName`],
  ],
])("%j: %j", (resourceClaims, expected) => {
  expect(verdict({ resourceClaims })).toEqual(expected);
});

const gpus = "spec.domain.devices.gpus";
const hosts = "spec.domain.devices.hostDevices";
const requested = (claimName: string, requestName: string): Change => ({
  name: "d",
  claimName,
  requestName,
});
const named = (deviceName: string): Change => ({ name: "d", deviceName });
const devices = (list: string, ...all: Change[]): Change => ({
  resourceClaims: [claim("a")],
  domain: { devices: { [list]: all } },
});
const open: ClusterOptions = { gates: ["HostDevices"] };

test.each<[Change, ClusterOptions, string[]]>([
  [devices("gpus", named("n/gpu")), {}, []],
  [devices("gpus", requested("a", "r"), requested("a", "s")), {}, []],
  [devices("gpus", named("n/gpu"), requested("a", "r")), {}, [`Invalid ${gpus}`]],
  [devices("hostDevices", named("n/x"), requested("a", "r")), open, []],
  [devices("gpus", { name: "d" }), {}, [`Required ${gpus}`]],
  [devices("gpus", { ...requested("a", "r"), deviceName: "n/gpu" }), {}, [`Invalid ${gpus}`]],
  [devices("gpus", requested("a", "r")), { disabled: ["GPUsWithDRA"] }, [`Invalid ${gpus}`]],
  [
    devices("hostDevices", requested("a", "r")),
    { gates: ["HostDevices"], disabled: ["HostDevicesWithDRA"] },
    [`Invalid ${hosts}`],
  ],
  [devices("gpus", requested("", "r")), {}, [`Required ${gpus}[0].claimName`]],
  [devices("gpus", requested("a", "")), {}, [`Required ${gpus}[0].requestName`]],
  [devices("gpus", requested("a", "r"), requested("a", "r")), {}, [`Duplicate ${gpus}[1]`]],
  [devices("gpus", requested("b", "r")), {}, ["Invalid spec.resourceClaims"]],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});

test("each request is one device, in whichever list", () => {
  const change = {
    resourceClaims: [claim("a")],
    networks: [{ name: "n", resourceClaim: { claimName: "a", requestName: "r" } }],
    domain: {
      devices: {
        gpus: [requested("a", "r")],
        hostDevices: [requested("a", "r")],
        interfaces: [{ name: "n", sriov: {} }],
      },
    },
  };
  const gates = ["HostDevices", "NetworkDevicesWithDRA"];
  expect(verdict(change, { gates })).toEqual([
    `Duplicate ${hosts}[0]`,
    "Duplicate spec.networks[0]",
  ]);
});
