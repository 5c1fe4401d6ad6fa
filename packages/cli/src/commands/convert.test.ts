import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const directory = mkdtempSync(join(tmpdir(), "virtkit-convert-"));
afterAll(() => rmSync(directory, { recursive: true }));

const vmi = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: vm, namespace: ns }
spec:
  domain:
    memory: { guest: 1Gi }
    devices:
      disks: [{ name: data, disk: { bus: virtio } }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: c } }]
`;

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

describe("virtkit convert", () => {
  test("prints the domain of a VMI as XML", async () => {
    const { code, out, err } = await runVirtkit(["convert", "-f", "-"], vmi);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^<domain type="kvm"/);
    expect(out).toContain('<source file="/var/run/kubevirt-private/vmi-disks/data/disk.img"/>');
  });

  test("takes the environment into account, and prints JSON", async () => {
    const environment = file("env.json", '{"blockVolumes":["data"]}');
    const args = [
      "convert",
      "-f",
      file("vmi.yaml", vmi),
      "--environment",
      environment,
      "-o",
      "json",
    ];
    const { code, out } = await runVirtkit(args);
    expect(code).toBe(0);
    expect(JSON.parse(out).devices.disks[0].source).toEqual({ dev: "/dev/data", name: "data" });
  });

  test("takes the template of a VM, with the input device that its controller adds", async () => {
    const vm = `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: vm, namespace: ns }
spec:
  template:
    spec: { domain: { memory: { guest: 1Gi }, devices: { autoattachInputDevice: true } } }
`;
    const { out } = await runVirtkit(["convert", "-f", "-"], vm);
    expect(out).toContain("<name>ns_vm</name>");
    expect(out).toContain('<alias name="ua-default-0"/>');
  });

  test("says which field stands in the way", async () => {
    const bad = vmi.replace(
      "persistentVolumeClaim: { claimName: c }",
      "memoryDump: { claimName: c }",
    );
    const { code, out, err } = await runVirtkit(["convert", "-f", "-"], bad);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("spec.volumes[0]");
  });

  test.each([
    [["convert"], ""],
    [["convert", "-f", "-"], "kind: Pod"],
    [["convert", "-f", "-"], "---\na: 1\n---\nb: 2\n"],
    [["convert", "-f", "-", "-o", "yaml"], vmi],
  ])("is called otherwise than %j with %j", async (args, stdin) => {
    expect((await runVirtkit(args, stdin)).code).toBe(2);
  });

  test("reports a file that cannot be read, or is none", async () => {
    expect(await runVirtkit(["convert", "-f", "/nowhere.yaml"])).toMatchObject({ code: 1 });
    expect(await runVirtkit(["convert", "-f", "-"], "a: [")).toMatchObject({ code: 1 });
  });
});
