import { readFileSync } from "node:fs";
import { domainFor, isConverterError, toXml } from "@virtkit/converter";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const vmi = parse(readFileSync(new URL("database.yaml", import.meta.url), "utf8"));

/** Where it will run: the claim is a block device there. */
const environment = {
  blockVolumes: ["data"],
  firmwareUUID: "5d307ca9-b3ef-428c-8861-06e72d69f223",
};

describe("the VMI of the database", () => {
  const domain = domainFor(vmi, environment);

  test("boots from the system disk", () => {
    expect(domain.devices.disks.find(({ boot }) => boot?.order === 1)?.alias?.name).toBe(
      "ua-system",
    );
  });

  test("has its data on the block device, uncached, with a queue for each CPU", () => {
    const data = domain.devices.disks.find(({ serial }) => serial === "PGDATA");
    expect(data?.source.dev).toBe("/dev/data");
    expect(data?.driver).toMatchObject({ cache: "none", queues: 4 });
  });

  test("has the memory that it needs, and can be given four times as much while it runs", () => {
    expect(domain.memory.value).toBe(8 * 1024 ** 3);
    expect(domain.maxMemory?.value).toBe(32 * 1024 ** 3);
  });

  test("is XML that libvirt reads", () => {
    expect(toXml(domain)).toContain('<disk type="block" device="disk"');
  });

  test("is refused with a shared cache, and the message names the field", () => {
    const broken = structuredClone(vmi);
    Object.assign(broken.spec.domain.devices.disks[1], { shareable: true, cache: "writeback" });
    try {
      domainFor(broken, environment);
      expect.unreachable();
    } catch (error) {
      expect(isConverterError(error) && error.path).toBe("spec.domain.devices.disks[1].cache");
    }
  });
});
