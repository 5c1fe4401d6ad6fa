import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

describe("watchdog", () => {
  test.each([
    ["amd64", { i6300esb: { action: "reset" } }, { model: "i6300esb", action: "reset" }],
    ["s390x", { diag288: { action: "poweroff" } }, { model: "diag288", action: "poweroff" }],
  ])("on %s is %j", (architecture, kind, expected) => {
    const [found] = domainWith({ architecture, devices: { watchdog: { name: "w", ...kind } } })
      .devices.watchdogs;
    expect(found).toMatchObject({ ...expected, alias: { name: "ua-w" } });
  });

  test.each([
    ["amd64", { diag288: {} }],
    ["arm64", { i6300esb: {} }],
    ["s390x", { i6300esb: {} }],
  ])("on %s fails with %j", (architecture, kind) => {
    const watchdog = { name: "w", ...kind };
    expect(errorPath({ architecture, devices: { watchdog } })).toBe("spec.domain.devices.watchdog");
  });
});
