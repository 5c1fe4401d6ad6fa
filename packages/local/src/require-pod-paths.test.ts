import type { Pod } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { requirePodPaths } from "./require-pod-paths.ts";

const podWith = (name: string, mount: { mountPath?: string; subPath?: string } = {}) =>
  ({
    spec: {
      volumes: [{ name, emptyDir: {} }],
      containers: [{ name: "compute", volumeMounts: [{ name, mountPath: "/x", ...mount }] }],
    },
  }) as unknown as Pod;

test("accepts names that are one path component, and mounts without ..", () => {
  requirePodPaths(podWith("my.secret-access-cred", { mountPath: "/run/x", subPath: "user.data" }));
});

test.each(["../x", "..", ".", "", "a/b", "/etc", "a\0", "A", "a\n"])(
  "rejects a volume named %j",
  (name) => {
    expect(() => requirePodPaths(podWith(name))).toThrow(
      expect.objectContaining({ code: "AGENT_VMI_INVALID", path: "volumes" }),
    );
  },
);

test.each([
  { mountPath: "/run/../../etc" },
  { mountPath: "etc" },
  { mountPath: "/a\0" },
  { subPath: "../x" },
  { subPath: "/etc" },
])("rejects a mount %j", (mount) => {
  expect(() => requirePodPaths(podWith("x", mount))).toThrow(
    expect.objectContaining({ code: "AGENT_VMI_INVALID", path: "volumeMounts" }),
  );
});
