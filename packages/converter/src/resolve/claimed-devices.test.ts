import { describe, expect, test } from "vitest";
import { smallVmi } from "../testing/conversion.ts";
import { claimedHostDevices } from "./claimed-devices.ts";
import { claimedGpus } from "./claimed-gpus.ts";

const base = "var/run/kubernetes.io/dra-device-attributes/resourceclaims/claim/r/d-metadata.json";

function files(attributes: object): Record<string, string> {
  const requests = [{ name: "r", devices: [{ attributes }] }];
  return { [base]: JSON.stringify({ apiVersion: "metadata.resource.k8s.io/v1alpha1", requests }) };
}

const mediated = files({ mdevUUID: { string: "u" } });
const pci = files({ "resource.kubernetes.io/pciBusID": { string: "0000:c1:00.0" } });
const device = { name: "d", claimName: "c", requestName: "r" };
const spec = { resourceClaims: [{ name: "c", resourceClaimName: "claim" }] };

describe("devices from claims", () => {
  test("are mediated or PCI", () => {
    const vmi = smallVmi({ devices: { hostDevices: [device] }, spec });
    expect(claimedHostDevices(vmi, pci)[0]).toMatchObject({
      Type: "pci",
      Alias: { Name: "dra-hostdevice-d" },
    });
    expect(claimedHostDevices(vmi, mediated)[0]).toMatchObject({ Type: "mdev", Model: "vfio-pci" });
  });

  test("are mediated if they name their parent's address as well", () => {
    const attributes = {
      mdevUUID: { string: "u" },
      "resource.kubernetes.io/pciBusID": { string: "0000:c1:00.0" },
    };
    const vmi = smallVmi({ devices: { hostDevices: [device], gpus: [device] }, spec });
    expect(claimedHostDevices(vmi, files(attributes))[0]?.Type).toBe("mdev");
    expect(claimedGpus(vmi, files(attributes))[0]?.Type).toBe("mdev");
  });

  test("must be one or the other", () => {
    const vmi = smallVmi({ devices: { hostDevices: [device] }, spec });
    expect(() => claimedHostDevices(vmi, files({}))).toThrow(
      expect.objectContaining({ path: "hostFiles" }),
    );
  });

  test("are crypto adapters on s390x", () => {
    const vmi = smallVmi({ architecture: "s390x", devices: { hostDevices: [device] }, spec });
    expect(claimedHostDevices(vmi, mediated)[0]?.Model).toBe("vfio-ap");
  });

  test("can be the display, as GPUs", () => {
    const vmi = smallVmi({ devices: { gpus: [device] }, spec });
    expect(claimedGpus(vmi, mediated)[0]).toMatchObject({
      Alias: { Name: "dra-gpu-d" },
      Display: "on",
      RamFB: "on",
    });
  });

  test("need a claim and a request", () => {
    const vmi = smallVmi({ devices: { gpus: [{ name: "d", claimName: "c" }] }, spec });
    expect(() => claimedGpus(vmi, pci)).toThrow(
      expect.objectContaining({ path: "spec.domain.devices.gpus[0]" }),
    );
  });
});
