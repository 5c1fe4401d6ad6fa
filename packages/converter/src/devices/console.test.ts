import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

const path = "/var/run/kubevirt-private/u1/virt-serial0";

test("the console is a serial port on the guest's own socket", () => {
  const { serials, consoles } = domainWith().devices;
  expect(serials).toEqual([{ type: "unix", source: { mode: "bind", path }, target: { port: 0 } }]);
  expect(consoles).toEqual([{ type: "pty", target: { type: "serial", port: 0 } }]);
});

test("keeps its log if the cluster says so", () => {
  const [serial] = domainWith({ context: { serialConsoleLog: true } }).devices.serials;
  expect(serial?.log).toEqual({ file: `${path}-log`, append: "on" });
});

test("has neither console nor controller if it is not wanted", () => {
  const { serials, consoles, controllers } = domainWith({
    devices: { autoattachSerialConsole: false },
  }).devices;
  expect([serials, consoles]).toEqual([[], []]);
  expect(controllers.map(({ type }) => type)).toEqual(["usb", "scsi"]);
});
