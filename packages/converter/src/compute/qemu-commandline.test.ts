import { describe, expect, test } from "vitest";
import { type Changes, domainWith } from "../testing/conversion.ts";

function args(changes: Changes): string[] | undefined {
  return domainWith(changes).qemuCommandline?.args.map(({ value }) => value);
}

describe("QEMU's command line", () => {
  test("is left alone unless it is needed", () => {
    expect(args({})).toBeUndefined();
  });

  test("passes on valid Ignition data", () => {
    const annotations = (data: string): Changes => ({
      annotations: { "kubevirt.io/ignitiondata": data },
    });
    expect(args(annotations('{"ignition":{}}'))).toEqual([
      "-fw_cfg",
      "name=opt/com.coreos/config,file=/var/run/kubevirt-ephemeral-disks/ignition-data/ns/vm/data.ign",
    ]);
    expect(args(annotations("{}"))).toBeUndefined();
  });

  test("keeps the firmware's log at a high verbosity, on x86", () => {
    const context = (launcherLogVerbosity: string): Changes => ({
      context: { host: { launcherLogVerbosity } },
    });
    expect(args(context("6"))).toHaveLength(4);
    for (const verbosity of ["5", "", "high"]) expect(args(context(verbosity))).toBeUndefined();
    expect(args({ ...context("9"), architecture: "arm64" })).toBeUndefined();
  });
});
