import { parseDomain, toDeviceXml } from "@virtkit/converter";
import { expect, test } from "vitest";
import { memoryPlug } from "./memory-device.ts";

const gibibyte = 2n ** 30n;
const running = (memory: string, devices = "", backing = "") =>
  parseDomain(`<domain type='kvm'><name>n</name>${memory}${backing}
    <maxMemory unit='KiB'>4194304</maxMemory><devices>${devices}</devices></domain>`);

test("gives a guest without the device one of its maximum size", () => {
  const { how, device } = memoryPlug(running("<memory unit='KiB'>1048576</memory>"), 2n * gibibyte);
  expect(how).toBe("attach");
  expect(toDeviceXml("other", device).replace(/\s*\n\s*/g, "")).toBe(
    '<memory model="virtio-mem"><target><size unit="b">3221225472</size><node>0</node>' +
      '<block unit="b">2097152</block><requested unit="b">1073741824</requested></target></memory>',
  );
});

test("blocks are as large as huge pages", () => {
  const backing =
    "<memoryBacking><hugepages><page size='1' unit='GiB'/></hugepages></memoryBacking>";
  const { device } = memoryPlug(
    running("<memory unit='KiB'>1048576</memory>", "", backing),
    2n * gibibyte,
  );
  expect(toDeviceXml("other", device)).toContain('<block unit="b">1073741824</block>');
});

test("changes only the requested size of an existing device", () => {
  const memory = `<memory model='virtio-mem'><target><size unit='KiB'>3145728</size><node>0</node>
    <requested unit='KiB'>0</requested><current unit='KiB'>0</current></target>
    <alias name='virtiomem0'/></memory>`;
  const { how, device } = memoryPlug(
    running("<memory unit='KiB'>4194304</memory>", memory),
    3n * gibibyte,
  );
  expect(how).toBe("update");
  const xml = toDeviceXml("other", device);
  expect(xml).toContain('<requested unit="b">2147483648</requested>');
  expect(xml).toContain('<size unit="KiB">3145728</size>');
  expect(xml).toContain('<alias name="virtiomem0"/>');
});
