import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { isNetworkSetupError } from "../network-setup-error.ts";
import { podNic } from "../testing/sample-pod.ts";
import { planBinding } from "./plan-binding.ts";

test.each([
  [{ spec: { networks: "x" } }, "spec.networks"],
  [{ spec: { networks: [{}] } }, "spec.networks[0].name"],
  [{ spec: { networks: [null] } }, "spec.networks[0]"],
  [{ spec: { domain: { devices: { interfaces: {} } } } }, "spec.domain.devices.interfaces"],
  [{ status: { interfaces: ["x"] } }, "status.interfaces[0]"],
])("rejects %j and names the field", (vmi, path) => {
  try {
    planBinding(vmi as unknown as VirtualMachineInstance, [podNic()]);
    expect.unreachable();
  } catch (error) {
    expect(isNetworkSetupError(error) && error.path).toBe(path);
  }
});

test.each([{}, { spec: null }, { spec: { networks: null, domain: { devices: {} } }, status: {} }])(
  "finds nothing to wire in %j",
  (vmi) => {
    const plan = planBinding(vmi as unknown as VirtualMachineInstance, []);
    expect(plan).toEqual({ bindings: [], steps: [] });
  },
);
