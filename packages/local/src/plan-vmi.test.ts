import { admit } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { convert, resolveContext } from "@virtkit/converter";
import { describe, expect, test } from "vitest";
import { planVmi, type VmiRequest } from "./plan-vmi.ts";

const vmi: VirtualMachineInstance = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "demo" },
  spec: {
    domain: { memory: { guest: "256Mi" }, devices: {} },
    volumes: [],
  },
};
const request: VmiRequest = {
  vmi,
  vmiUid: "0d4c4a52-0001-4000-8000-000000000001",
  podUid: "0d4c4a52-0002-4000-8000-000000000002",
  accel: "tcg",
  architecture: "amd64",
  now: new Date("2026-01-01T00:00:00Z"),
};

test("admits the VMI and renders its Pod, as a cluster would", () => {
  const plan = planVmi(request);
  expect(plan.vmi.metadata).toMatchObject({ namespace: "default", uid: request.vmiUid });
  expect(plan.vmi.spec.domain.machine?.type).toBe("q35");
  expect(plan.pod.metadata).toMatchObject({ uid: request.podUid, namespace: "default" });
  expect(plan.pod.spec.hostname).toBe("demo");
});

describe.each([
  ["amd64", "x86_64", "q35"],
  ["arm64", "aarch64", "virt"],
  ["s390x", "s390x", "s390-ccw-virtio"],
] as const)("on a host of %s", (architecture, libvirtName, machineType) => {
  const firmware = { code: "/usr/share/fw/code", vars: "/usr/share/fw/vars" };

  test("VMI, Pod and domain are of that architecture", () => {
    const plan = planVmi({ ...request, architecture, firmware });
    expect(plan.vmi.spec).toMatchObject({
      architecture,
      domain: { machine: { type: machineType } },
    });
    expect(plan.pod.spec.nodeSelector).toMatchObject({ "kubernetes.io/arch": architecture });
    const { os } = convert(plan.vmi, resolveContext(plan.vmi, plan.environment));
    expect(os.type).toMatchObject({ arch: libvirtName, machine: machineType });
  });

  test("gives every stage the same configuration", () => {
    const { config, environment } = planVmi({ ...request, architecture, firmware });
    expect(environment.config).toBe(config);
    expect([config.cpuArchitecture, config.defaultArchitecture]).toEqual([
      architecture,
      architecture,
    ]);
  });
});

test("the Pod's memory is more than the guest's, and more again if QEMU translates", () => {
  const kvm = planVmi({ ...request, accel: "kvm" }).limits.memoryBytes;
  expect(kvm).toBeGreaterThan(256 * 2 ** 20);
  expect(planVmi(request).limits.memoryBytes).toBeGreaterThan(kvm);
});

test("only KVM needs its device, and the conversion knows whether it exists", () => {
  const named = (accel: "kvm" | "tcg"): readonly string[] =>
    planVmi({ ...request, accel }).devices.map(({ name }) => name);
  expect(named("kvm")).toContain("kvm");
  expect(named("tcg")).not.toContain("kvm");
  const { environment } = planVmi(request);
  expect(environment).toMatchObject({ hypervisorDeviceAvailable: false, allowEmulation: true });
});

test("rejects a VMI that a cluster would reject, with the field", () => {
  const disks = [{ name: "root", disk: {} }];
  const domain = { ...vmi.spec.domain, devices: { disks } };
  const wrong = { ...vmi, spec: { ...vmi.spec, domain } };
  expect(() => planVmi({ ...request, vmi: wrong })).toThrow(
    expect.objectContaining({
      code: "AGENT_VMI_INVALID",
      message: expect.stringContaining("spec.domain.devices.disks[0]"),
    }),
  );
});

test("the error says how many more faults there are, and which command lists them", () => {
  const odd = {
    disks: [
      { name: "root", disk: {} },
      { name: "root", disk: {} },
    ],
  };
  const rules = { ...vmi, spec: { ...vmi.spec, domain: { ...vmi.spec.domain, devices: odd } } };
  const shape = { ...vmi, spec: { ...vmi.spec, hostname: 5, subdomain: 6 } };
  const more = /\(and \d+ more: virtkit validate -f FILE\)$/;
  expect(() => planVmi({ ...request, vmi: rules })).toThrow(more);
  expect(() => planVmi({ ...request, vmi: shape as unknown as typeof vmi })).toThrow(more);
});

test("the launcher runs the probes", () => {
  const spec = { ...vmi.spec, readinessProbe: { guestAgentPing: {} } };
  const { pod } = planVmi({ ...request, vmi: { ...vmi, spec } });
  expect(pod.spec.containers[0]?.command).toContain("--run-probes");
});

test("rejects what is not a VMI instead of crashing", () => {
  const broken = { ...vmi, spec: 7 } as unknown as VirtualMachineInstance;
  expect(() => planVmi({ ...request, vmi: broken })).toThrow(
    expect.objectContaining({ code: "AGENT_VMI_INVALID" }),
  );
});

test("a file in place of a claim is a folder of the Pod with an image in it", () => {
  const onClaim = {
    ...vmi,
    spec: {
      domain: { ...vmi.spec.domain, devices: { disks: [{ name: "data", disk: {} }] } },
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "claim" } }],
    },
  };
  // A block claim of the same name in the manifest does not count.
  const metadata = { name: "claim", namespace: "default" };
  const objects = { persistentVolumeClaims: [{ metadata, spec: { volumeMode: "Block" } }] };
  const { pod } = planVmi({ ...request, vmi: onClaim, claims: ["claim"], objects });
  const mounts = pod.spec.containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  expect(mounts).toContainEqual({
    name: "data",
    mountPath: "/var/run/kubevirt-private/vmi-disks/data",
  });
});

test("mounts the host's firmware under the names that the conversion uses", () => {
  const firmware = { code: "/usr/share/OVMF/OVMF_CODE_4M.fd", vars: "/usr/share/OVMF/VARS.fd" };
  const efi = {
    ...vmi,
    spec: {
      ...vmi.spec,
      domain: {
        ...vmi.spec.domain,
        firmware: { bootloader: { efi: { secureBoot: false } } },
      },
    },
  };
  const { mounts, environment } = planVmi({ ...request, vmi: efi, firmware });
  expect(mounts.map(({ target }) => target)).toEqual([
    "/run/virtkit-firmware/OVMF_CODE.fd",
    "/run/virtkit-firmware/OVMF_VARS.fd",
  ]);
  expect(environment.efiRoms).toEqual(["OVMF_CODE.fd", "OVMF_VARS.fd"]);
  expect(environment.config?.ovmfPath("amd64")).toBe("/run/virtkit-firmware");
});

const withHostDisk = {
  ...vmi,
  spec: {
    domain: { ...vmi.spec.domain, devices: { disks: [{ name: "data", disk: {} }] } },
    volumes: [{ name: "data", hostDisk: { path: "/srv/disks/a.img", type: "Disk" } }],
  },
};

test("enables no feature gate by default, and rejects a hostDisk like validate", () => {
  const { configuration } = planVmi(request).config;
  expect(configuration.developerConfiguration.featureGates ?? []).toEqual([]);
  const answer = admit(
    { kind: "VirtualMachineInstance", operation: "CREATE", object: withHostDisk },
    clusterConfig(),
  );
  expect(answer.allowed).toBe(false);
  const [cause] = answer.allowed ? [] : answer.causes;
  expect(cause?.message).toContain("feature gate HostDisk");
  expect(() => planVmi({ ...request, vmi: withHostDisk })).toThrow(
    expect.objectContaining({
      code: "AGENT_VMI_INVALID",
      message: `${cause?.message} for a directory of disks: --allow-host-disk DIR`,
    }),
  );
});

test("an allowed directory enables the gate of host disks, for what is below it", () => {
  const allowed = (directory: string) =>
    planVmi({ ...request, vmi: withHostDisk, allowedHostDiskDirectories: [directory] });
  const { hostDisks, config } = allowed("/srv/disks");
  expect(hostDisks).toMatchObject([{ volume: "data", directory: "/srv/disks", parts: ["a.img"] }]);
  expect(config.gate("HostDisk")).toBe(true);
  expect(() => allowed("/srv/other")).toThrow(/not below an allowed directory/);
});

test("the name of a Secret cannot lead out of the Pod's folder", () => {
  const secret = { secretName: "../../../etc" };
  const propagationMethod = { qemuGuestAgent: { users: ["root"] } };
  const accessCredentials = [{ sshPublicKey: { source: { secret }, propagationMethod } }];
  const wrong = { ...vmi, spec: { ...vmi.spec, accessCredentials } };
  expect(() => planVmi({ ...request, vmi: wrong })).toThrow(
    expect.objectContaining({
      code: "AGENT_VMI_INVALID",
      message: expect.stringContaining("../../../etc-access-cred"),
    }),
  );
});

test("rejects paths in images that lead upwards", () => {
  const kernelBoot = { container: { image: "k", kernelPath: "/../../etc/passwd" } };
  const boot = { ...vmi.spec.domain, firmware: { kernelBoot } };
  const disk = {
    domain: { ...vmi.spec.domain, devices: { disks: [{ name: "root", disk: {} }] } },
    volumes: [{ name: "root", containerDisk: { image: "i", path: "/../../etc/passwd" } }],
  };
  for (const spec of [{ ...vmi.spec, domain: boot }, disk]) {
    expect(() => planVmi({ ...request, vmi: { ...vmi, spec } })).toThrow(/without \. and \.\./);
  }
});
