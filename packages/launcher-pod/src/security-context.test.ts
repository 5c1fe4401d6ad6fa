import type { KubeVirtConfiguration } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { container, render } from "./testing/render.ts";
import { virtkitLauncherProfile } from "./virtkit-profile.ts";

test("an unprivileged guest's Pod runs as its user without further privileges", () => {
  const pod = render({});
  expect(pod.spec.securityContext).toEqual({
    runAsUser: 107,
    runAsGroup: 107,
    runAsNonRoot: true,
    fsGroup: 107,
  });
  expect(container(pod, "compute")?.securityContext).toEqual({
    capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] },
    runAsUser: 107,
    runAsGroup: 107,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
  });
});

test("an unprivileged launcher can have a read-only root, with a directory for temporary files", () => {
  const profile = virtkitLauncherProfile({ readOnlyRoot: true });
  const pod = render({}, { profile });
  for (const name of ["compute", "guest-console-log"]) {
    expect(container(pod, name)?.securityContext?.readOnlyRootFilesystem).toBe(true);
  }
  const temporary = { name: "launcher-tmp", mountPath: "/tmp" };
  expect(container(pod, "compute")?.volumeMounts).toContainEqual(temporary);
  expect(pod.spec.volumes).toContainEqual({ name: "launcher-tmp", emptyDir: {} });
});

test.each([
  ["by default", {}, virtkitLauncherProfile()],
  [
    "if it runs as root",
    { status: { runtimeUser: 0 } },
    virtkitLauncherProfile({ readOnlyRoot: true }),
  ],
])("a launcher can write to its root %s", (_, parts, profile) => {
  const pod = render(parts, { profile });
  expect(container(pod, "compute")?.securityContext).not.toHaveProperty("readOnlyRootFilesystem");
  expect(pod.spec.volumes?.map(({ name }) => name)).not.toContain("launcher-tmp");
});

test("root's Pod runs as root; the old annotation counts as unprivileged", () => {
  const root = render({ status: { runtimeUser: 0 } });
  expect(root.spec.securityContext).toEqual({ runAsUser: 0, fsGroup: 107 });
  expect(container(root, "compute")?.securityContext?.capabilities).toEqual({
    add: ["NET_BIND_SERVICE", "SYS_NICE"],
  });
  expect(container(root, "compute")?.env).toEqual([expect.objectContaining({ name: "POD_NAME" })]);
  const annotations = { "kubevirt.io/nonroot": "" };
  const old = render({ metadata: { annotations }, status: { runtimeUser: 0 } });
  expect(old.spec.securityContext?.runAsUser).toBe(107);
});

test.each<[KubeVirtConfiguration, object]>([
  [
    { selinuxLauncherType: "virt_launcher.process" },
    { seLinuxOptions: { type: "virt_launcher.process" } },
  ],
  [
    profile({ localhostProfile: "kubevirt/kubevirt.json" }),
    { seccompProfile: { type: "Localhost", localhostProfile: "kubevirt/kubevirt.json" } },
  ],
  [profile({ runtimeDefaultProfile: true }), { seccompProfile: { type: "RuntimeDefault" } }],
])("the configuration %j confines the Pod", (configuration, context) => {
  expect(render({}, { configuration }).spec.securityContext).toMatchObject(context);
});

function profile(customProfile: object): KubeVirtConfiguration {
  return { seccompConfiguration: { virtualMachineInstanceProfile: { customProfile } } };
}

test("helpers lose their SELinux categories where Docker would give each its own", () => {
  const annotations = { "hooks.kubevirt.io/hookSidecars": '[{"image":"a:1"}]' };
  const pod = render(
    { metadata: { annotations } },
    {
      configuration: {
        selinuxLauncherType: "t",
        developerConfiguration: { featureGates: ["DockerSELinuxMCSWorkaround"] },
      },
    },
  );
  const options = (name: string): unknown => container(pod, name)?.securityContext?.seLinuxOptions;
  expect([options("hook-sidecar-0"), options("compute")]).toEqual([
    { type: "t", level: "s0" },
    undefined,
  ]);
});
