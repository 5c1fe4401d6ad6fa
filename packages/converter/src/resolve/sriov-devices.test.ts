import { describe, expect, test } from "vitest";
import { smallVmi } from "../testing/conversion.ts";
import { claimedNetworkDevices, multusDevices } from "./sriov-devices.ts";

const card = { name: "s", sriov: {}, bootOrder: 2, pciAddress: "0000:02:01.0" };
const up = { interfaces: [{ name: "s", infoSource: "domain, multus-status" }] };
const info = {
  interfaces: [{ network: "s", deviceInfo: { pci: { "pci-address": "0000:65:00.2" } } }],
};

describe("network functions", () => {
  test("have the address that Multus reported, and the one in the VMI", () => {
    const [device] = multusDevices(smallVmi({ devices: { interfaces: [card] }, status: up }), info);
    expect(device).toMatchObject({
      Type: "pci",
      Alias: { Name: "sriov-s" },
      Source: { Address: { Bus: "0x65", Function: "0x2" } },
      Address: { Bus: "0x02", Slot: "0x01" },
      BootOrder: { Order: 2 },
    });
  });

  test("are left out until their network is up", () => {
    expect(multusDevices(smallVmi({ devices: { interfaces: [card] } }), info)).toEqual([]);
  });

  test.each([
    ["no address is known", card, undefined, "networkInfo"],
    [
      "the guest's address is invalid",
      { ...card, pciAddress: "bad" },
      info,
      "spec.domain.devices.interfaces[0].pciAddress",
    ],
  ])("fail if %s", (_what, given, networkInfo, path) => {
    const vmi = smallVmi({ devices: { interfaces: [given] }, status: up });
    expect(() => multusDevices(vmi, networkInfo)).toThrow(expect.objectContaining({ path }));
  });

  test.each([
    ["", {}],
    [", whatever else the claim names", { mdevUUID: { string: "u" } }],
  ])("can come from a claim%s", (_what, others) => {
    const resourceClaim = { claimName: "c", requestName: "r" };
    const vmi = smallVmi({
      devices: { interfaces: [card] },
      spec: {
        networks: [{ name: "s", resourceClaim }],
        resourceClaims: [{ name: "c", resourceClaimName: "claim" }],
      },
    });
    const file =
      "var/run/kubernetes.io/dra-device-attributes/resourceclaims/claim/r/d-metadata.json";
    const attributes = {
      ...others,
      "resource.kubernetes.io/pciBusID": { string: "0000:c1:00.0" },
    };
    const requests = [{ name: "r", devices: [{ attributes }] }];
    const text = JSON.stringify({ apiVersion: "metadata.resource.k8s.io/v1alpha1", requests });
    expect(claimedNetworkDevices(vmi, { [file]: text })[0]?.Source.Address?.Bus).toBe("0xc1");
  });
});
