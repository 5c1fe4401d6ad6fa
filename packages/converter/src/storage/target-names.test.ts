import type { Disk } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { formatTarget, TargetNames } from "./target-names.ts";

describe("TargetNames", () => {
  test("counts each prefix by itself", () => {
    const names = new TargetNames([], []);
    expect(
      ["virtio", "sata", "virtio", "scsi", "usb"].map((bus, at) => names.nameOf(`d${at}`, bus).dev),
    ).toEqual(["vda", "sda", "vdb", "sdb", "sdc"]);
  });

  test("keeps the names in the status and fills the gaps", () => {
    const disks: Disk[] = ["a", "b", "c"].map((name) => ({ name, disk: { bus: "virtio" } }));
    const names = new TargetNames(disks, [
      { name: "b", target: "vda" },
      { name: "c", target: "vdc" },
      { name: "a", target: "" },
    ]);
    expect(disks.map(({ name }) => names.nameOf(name, "virtio"))).toEqual([
      { dev: "vdb", unit: 1 },
      { dev: "vda", unit: 0 },
      { dev: "vdc", unit: 2 },
    ]);
    expect(names.nameOf("a", "virtio").dev).toBe("vdb");
  });

  test("gives a kept name that Linux would not use the number 0", () => {
    const names = new TargetNames(
      [{ name: "a", disk: { bus: "scsi" } }],
      [{ name: "a", target: "odd1" }],
    );
    expect(names.nameOf("a", "scsi")).toEqual({ dev: "odd1", unit: 0 });
  });
});

test.each([
  [0, "sda"],
  [25, "sdz"],
  [26, "sdaa"],
  [701, "sdzz"],
  [702, "sdaaa"],
])("disk %d is %s", (unit, name) => {
  expect(formatTarget("sd", unit)).toBe(name);
  const names = new TargetNames(
    [{ name: "d", disk: { bus: "scsi" } }],
    [{ name: "d", target: name }],
  );
  expect(names.nameOf("d", "scsi").unit).toBe(unit);
});
