import { expect, test } from "vitest";
import { config, done, plan, reasonsOf, refused, vmOf, writesOf } from "../testing/vm-objects.ts";
import { cloneRequests } from "./data-volumes.ts";

const template = (name: string, pvc?: string): object => ({
  metadata: { name },
  spec: { storage: {}, ...(pvc ? { source: { pvc: { name: pvc, namespace: "golden" } } } : {}) },
});

function vmWith(...templates: readonly object[]): ReturnType<typeof vmOf> {
  return vmOf("Always", { dataVolumeTemplates: templates } as Parameters<typeof vmOf>[1]);
}

test("a starting VM waits for its DataVolumes", () => {
  const waiting = plan({ vm: vmWith(template("a"), template("b")) });
  expect(writesOf(waiting)).toEqual([
    "create datavolumes",
    "create datavolumes",
    "patch virtualmachines/status",
  ]);
  expect(reasonsOf(waiting)).toEqual(["SuccessfulDataVolumeCreate", "SuccessfulDataVolumeCreate"]);
});

test("makes a clone only if the service account may read the source", () => {
  const vm = vmWith(template("a", "image"));
  expect(cloneRequests({ vm }, config)).toEqual([
    {
      dataVolume: "a",
      source: { kind: "PersistentVolumeClaim", namespace: "golden", name: "image" },
      serviceAccount: { namespace: "ns", name: "default" },
    },
  ]);
  expect(writesOf(plan({ vm, mayClone: () => true }))).toContain("create datavolumes");
  for (const mayClone of [undefined, () => false]) {
    const forbidden = plan({ vm, mayClone });
    expect(writesOf(forbidden)).toEqual(["patch virtualmachines/status"]);
    expect(reasonsOf(forbidden)).toContain("UnauthorizedDataVolumeCreate");
    expect(forbidden.error).toMatchObject({ reason: "FailedCreate" });
  }
});

test("a clone of a snapshot says so, because it needs more rights", () => {
  const source = { snapshot: { name: "image", namespace: "golden" } };
  const vm = vmWith({ metadata: { name: "a" }, spec: { storage: {}, source } });
  expect(cloneRequests({ vm }, config)).toMatchObject([{ source: { kind: "VolumeSnapshot" } }]);
});

test("names missing CDI as the reason, whatever would fill the DataVolume", () => {
  const sourceRef = { kind: "DataSource", name: "server", namespace: "golden" };
  const referring = { metadata: { name: "a" }, spec: { storage: {}, sourceRef } };
  for (const each of [template("a"), template("a", "image"), referring]) {
    const without = plan({ vm: vmWith(each), isWithoutCdi: true });
    expect(writesOf(without)).toEqual(["patch virtualmachines/status"]);
    expect(without.error?.message).toMatch(
      /^DataVolume a was not created: CDI, which fills DataVolumes, is not installed/,
    );
  }
  // With CDI, the missing part is the source to clone.
  expect(plan({ vm: vmWith(referring) }).error?.message).toContain('"server"');
});

test("a refused DataVolume ends the pass and skips the steps after it", () => {
  const failed = plan({ vm: vmWith(template("a"), template("b"), template("c")) }, [
    done,
    refused("Forbidden"),
  ]);
  expect(writesOf(failed).filter((write) => write === "create datavolumes")).toHaveLength(2);
  expect(reasonsOf(failed)).toEqual(["SuccessfulDataVolumeCreate", "FailedDataVolumeCreate"]);
});
