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

  test("reads the cluster's configuration in the environment, and says what is wrong with it", async () => {
    const convert = async (configuration: string) =>
      await runVirtkit(
        [
          ...["convert", "-f", "-", "--environment"],
          file(
            "cluster.yaml",
            `kubevirtConfiguration: ${configuration}\ndefaultArchitecture: arm64`,
          ),
        ],
        vmi,
      );
    const { out } = await convert("{ memBalloonStatsPeriod: 7 }");
    expect(out).toContain('<stats period="7"/>');
    expect(out).toContain('arch="aarch64"');
    const { code, err } = await convert("{ memBalloonStatsPeriod: often }");
    expect(code).toBe(1);
    expect(err).toContain("spec.configuration.memBalloonStatsPeriod");
  });

  test("converts the template of a VM, with the input device that its controller adds", async () => {
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

  test("an object without a namespace is in the namespace default", async () => {
    const nowhere = vmi.replace(", namespace: ns", "");
    const { out } = await runVirtkit(["convert", "-f", "-"], nowhere);
    expect(out).toContain("<name>default_vm</name>");
  });

  test("names the field that prevents a conversion", async () => {
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
    [["convert", "-f", "-", "-o", "yaml"], vmi],
  ])("refuses %j with %j", async (args, stdin) => {
    expect((await runVirtkit(args, stdin)).code).toBe(2);
  });

  test("prints the domains of all objects in all files, one after the other", async () => {
    const [a, b] = [vmi.replace("name: vm", "name: a"), vmi.replace("name: vm", "name: b")];
    const files = ["-f", file("a.yaml", `${a}---\nkind: Pod\n`), "-f", file("b.yaml", b)];
    const { code, out } = await runVirtkit(["convert", ...files]);
    expect(code).toBe(0);
    expect([...out.matchAll(/<name>(\w+)<\/name>/g)].map(([, name]) => name)).toEqual([
      "ns_a",
      "ns_b",
    ]);
    expect(out).toMatch(/<\/domain>\n<domain /);
  });

  test("a VMI that cannot be converted does not prevent others from being converted", async () => {
    const bad = vmi.replace("guest: 1Gi", "guest: []");
    const { code, out, err } = await runVirtkit(["convert", "-f", "-"], `${bad}---${vmi}`);
    expect(code).toBe(1);
    expect(out).toContain("<name>ns_vm</name>");
    expect(err).toMatch(/^stdin:7:15: spec\.domain\.memory\.guest/);
  });

  test.each([
    ["kind: Pod", /contain no VirtualMachineInstance/],
    ["just text", /^stdin:1:1: /],
    ["a: 1\n---\n{}\n", /^stdin:1:1: .*spec.*\nstdin:3:1: .*spec/],
  ])("%j has no domain", async (text, words) => {
    const { code, out, err } = await runVirtkit(["convert", "-f", "-"], text);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(words);
  });

  test.each([
    ["just text", 1, /text\.yaml:1:1: found the string "just text"; give an object such as/],
    ["[1]", 1, /text\.yaml:1:2: found the number 1; give an object/],
    ["a: 1\n---\nb: 2\n", 2, /the file must contain one object, not 2 objects/],
  ])("refuses an environment of %j", async (text, exit, words) => {
    const args = ["convert", "-f", "-", "--environment", file("text.yaml", text)];
    const { code, out, err } = await runVirtkit(args, vmi);
    expect({ code, out }).toEqual({ code: exit, out: "" });
    expect(err).toMatch(words);
  });

  test("reports a file that cannot be read or parsed", async () => {
    expect(await runVirtkit(["convert", "-f", "/nowhere.yaml"])).toMatchObject({ code: 1 });
    expect(await runVirtkit(["convert", "-f", "-"], "a: [")).toMatchObject({ code: 1 });
  });
});
