import { expect, test } from "vitest";
import { claim, container, render, type VmiParts } from "../testing/render.ts";

const objects = {
  persistentVolumeClaims: [claim("state", {}, { labels: { "persistent-state-for": "guest" } })],
};

function stateMounts(parts: VmiParts): Record<string, string> {
  const pod = render(parts, { objects });
  const mounts = container(pod, "compute")?.volumeMounts?.filter(({ name }) => name === "vm-state");
  return Object.fromEntries(mounts?.map(({ subPath, mountPath }) => [subPath, mountPath]) ?? []);
}

const tpm: VmiParts = { devices: { tpm: { persistent: true } } };
const efi: VmiParts = { domain: { firmware: { bootloader: { efi: { persistent: true } } } } };
const home = "/var/run/kubevirt-private/libvirt/qemu";

test.each<[string, VmiParts, Record<string, string>]>([
  [
    "a TPM",
    tpm,
    {
      swtpm: `${home}/swtpm`,
      "swtpm-localca": "/var/run/kubevirt-private/var/lib/swtpm-localca",
    },
  ],
  ["firmware variables", efi, { nvram: `${home}/nvram` }],
  [
    "changed blocks",
    { status: { changedBlockTracking: { state: "Initializing" } } },
    { cbt: `${home}/cbt` },
  ],
])("%s of an unprivileged guest is below libvirt's home", (_, parts, paths) => {
  const meta = "/run/kubevirt-private/backend-storage-meta";
  expect(stateMounts(parts)).toEqual({ meta, ...paths });
});

test("root's libvirt has the system's directories and no parents of its own", () => {
  const root = { ...tpm, ...efi, status: { runtimeUser: 0 } };
  expect(stateMounts(root)).toMatchObject({
    swtpm: "/var/lib/libvirt/swtpm",
    "swtpm-localca": "/var/lib/swtpm-localca",
    nvram: "/var/lib/libvirt/qemu/nvram",
  });
  const volumes = (parts: VmiParts): string[] =>
    render(parts, { objects }).spec.volumes?.map(({ name }) => name) ?? [];
  expect(volumes(root)).not.toContain("private-libvirt");
  expect(volumes(tpm)).toContain("private-libvirt");
});

test("state that does not persist needs no claim", () => {
  expect(stateMounts({ devices: { tpm: {} } })).toEqual({});
  expect(stateMounts({ devices: { tpm: { enabled: false, persistent: true } } })).toEqual({});
});
