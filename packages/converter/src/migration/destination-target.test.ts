import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import type { AssignedHostDevice } from "../context.ts";
import { parseDomain } from "../xml/parse-domain.ts";
import { destinationTarget } from "./destination-target.ts";

const incoming = parseDomain("<domain/>");

function migrating(migrationState: object): VirtualMachineInstance {
  return {
    metadata: { name: "vm", namespace: "there" },
    spec: {
      domain: { devices: {} },
      networks: [
        { name: "default", pod: {} },
        { name: "blue", multus: { networkName: "blue" } },
      ],
    },
    status: { migrationState },
  } as unknown as VirtualMachineInstance;
}

function target(migrationState: object, gpuHostDevices: AssignedHostDevice[] = []) {
  const context = { architecture: "amd64", gpuHostDevices };
  return destinationTarget(incoming, migrating(migrationState), context);
}

describe("what the destination changes", () => {
  test("is TAP devices that were named by position", () => {
    expect(target({})).toEqual({ taps: { default: "tap0", blue: "tap16477688c0e" } });
  });

  test("is the namespace in paths, if it differs", () => {
    const [sourceState, targetState] = [{ domainNamespace: "here" }, { domainNamespace: "there" }];
    expect(target({ sourceState, targetState }).namespace).toEqual({
      from: "here",
      to: "there",
      match: "segment",
    });
    expect(target({ sourceState: targetState, targetState }).namespace).toBeUndefined();
    expect(target({ sourceState }).namespace).toBeUndefined();
  });

  test("is the mediated device, which must be the only one", () => {
    const device = { Type: "mdev", Source: { Address: { UUID: "b" } } };
    expect(target({}, [device]).mediatedDevice).toBe("b");
    const refused =
      (...devices: AssignedHostDevice[]) =>
      () =>
        target({}, devices);
    expect(refused(device, device)).toThrow(expect.objectContaining({ path: "gpuHostDevices[1]" }));
    expect(refused({ ...device, Type: "pci" })).toThrow(
      expect.objectContaining({ path: "gpuHostDevices[0]" }),
    );
  });
});
