import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("virtiofs", () => {
  test("shares a directory through the daemon's socket", () => {
    const filesystems = [{ name: "fs", virtiofs: {} }];
    expect(domainWith({ devices: { filesystems } }).devices.filesystems).toEqual([
      {
        type: "mount",
        accessMode: "passthrough",
        driver: { type: "virtiofs", queue: 1024 },
        source: { dir: "", socket: "/var/run/kubevirt/virtiofs-containers/fs.sock" },
        target: { dir: "fs" },
      },
    ]);
  });

  test("with a missing name has an empty one", () => {
    const filesystems = [{ virtiofs: {} }] as never;
    expect(domainWith({ devices: { filesystems } }).devices.filesystems[0]?.source?.socket).toBe(
      "/var/run/kubevirt/virtiofs-containers/.sock",
    );
  });
});
