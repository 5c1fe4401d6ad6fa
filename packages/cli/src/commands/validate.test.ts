import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const folder = mkdtempSync(join(tmpdir(), "virtkit-validate-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const vmi = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata:
  name: testvmi
spec:
  domain:
    memory:
      guest: 1Gi
    devices: {}
`;

const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n";

test("valid objects: nothing on stdout, a count on stderr, exit code 0", async () => {
  const { code, out, err } = await runVirtkit(["validate", "-f", "-"], `${vmi}---\n${vmi}`);
  expect({ code, out, err }).toEqual({ code: 0, out: "", err: "2 objects checked, all valid\n" });
});

test("each fault has file, line, column and object", async () => {
  const bad = file("bad.yaml", `# comment\n${vmi.replace("1Gi", "lots")}`);
  const { code, out } = await runVirtkit(["validate", "-f", bad]);
  expect(code).toBe(1);
  expect(out).toMatch(
    /bad\.yaml:9:7: VirtualMachineInstance\/testvmi: spec\.domain\.memory\.guest must be a quantity/,
  );
});

test("reads JSON, too, with places", async () => {
  const json = '{"apiVersion": "kubevirt.io/v1",\n "kind": "VirtualMachineInstance",\n "spec": 1}';
  const { code, out } = await runVirtkit(["validate", "-f", "-"], json);
  expect(code).toBe(1);
  expect(out).toContain("stdin:3:2: VirtualMachineInstance/?: spec must be");
});

test("reports unknown fields only with --strict", async () => {
  const text = vmi.replace("guest: 1Gi", "guest: 1Gi\n      gest: 2Gi");
  expect((await runVirtkit(["validate", "-f", "-"], text)).code).toBe(0);
  const { code, out } = await runVirtkit(["validate", "--strict", "-f", "-"], text);
  expect(code).toBe(1);
  expect(out).toContain("stdin:9:7:");
  expect(out).toContain("spec.domain.memory.gest");
});

test("skips objects of other API groups, except with --strict", async () => {
  const lenient = await runVirtkit(["validate", "-f", "-"], `${vmi}---\n${secret}`);
  expect(lenient).toMatchObject({
    code: 0,
    err: "1 object checked, all valid, 1 of other API groups ignored\n",
  });
  const strict = await runVirtkit(["validate", "--strict", "-f", "-"], secret);
  expect(strict.code).toBe(1);
});

test.each([
  ["apiVersion: kubevirt.io/v1\nkind: VirtualMachne\n", "VirtualMachne"],
  ["apiVersion: v1\nkind: VirtualMachine\n", "v1"],
  ["kind: VirtualMachine\n", "apiVersion"],
  ["- 1\n", "must be an object"],
  ["just text\n", "must be an object"],
])("%j is a fault: its kind is unknown", async (text, part) => {
  const { code, out } = await runVirtkit(["validate", "-f", "-"], text);
  expect(code).toBe(1);
  expect(out).toContain(part);
});

test("checks the configuration in a KubeVirt object by a cluster's rules", async () => {
  const kubevirt = `apiVersion: kubevirt.io/v1
kind: KubeVirt
spec:
  configuration:
    network:
      defaultNetworkInterface: macvtap
`;
  const { out } = await runVirtkit(["validate", "-f", "-"], kubevirt);
  expect(out).toContain("stdin:6:7: KubeVirt/?: spec.configuration.network.default");
  expect((await runVirtkit(["validate", "--schema-only", "-f", "-"], kubevirt)).code).toBe(0);
});

test("-o json and -o yaml have everything about each fault", async () => {
  const text = `${vmi.replace("1Gi", "lots")}---\na: 1\na: 2\n`;
  const { code, out } = await runVirtkit(["validate", "-f", "-", "-o", "json"], text);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    valid: false,
    checked: 1,
    skipped: 0,
    findings: [
      {
        source: "-",
        line: 8,
        column: 7,
        object: "VirtualMachineInstance/testvmi",
        path: "spec.domain.memory.guest",
        code: "format",
      },
      { source: "-", line: 12, column: 1, code: "unreadable" },
    ],
  });
  const yaml = await runVirtkit(["validate", "-f", "-", "-o", "yaml"], vmi);
  expect(yaml).toMatchObject({
    code: 0,
    out: "valid: true\nchecked: 1\nskipped: 0\nfindings: []\n",
  });
});

test("faults are sorted by file, then by line", async () => {
  const broken = file("a-broken.yaml", "a: [\n");
  const wrong = file("z-wrong.yaml", vmi.replace("1Gi", "lots"));
  const { out } = await runVirtkit(["validate", "-f", wrong, "-f", broken, "-f", "missing.yaml"]);
  const names = out.split("\n").map((line) => line.split(":")[0]?.split("/").at(-1));
  expect([...new Set(names)]).toEqual(["z-wrong.yaml", "a-broken.yaml", "missing.yaml", ""]);
});

test("--config accepts a KubeVirt object or a configuration, and says what is wrong with it", async () => {
  const good = file("config.yaml", "developerConfiguration:\n  featureGates: [HostDisk]\n");
  expect((await runVirtkit(["validate", "-f", "-", "--config", good], vmi)).code).toBe(0);
  const bad = file("bad-config.yaml", "cpuModel: 7\n");
  const refused = await runVirtkit(["validate", "-f", "-", "--config", bad], vmi);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain("spec.configuration.cpuModel");
  const two = file("two.yaml", "a: 1\n---\nb: 2\n");
  expect((await runVirtkit(["validate", "-f", "-", "--config", two], vmi)).code).toBe(2);
});

test.each([[[]], [["-f", "x", "-o", "xml"]], [["-f"]], [["--nope"]], [["file.yaml"]]])(
  "wrong usage %j exits 2 with nothing on stdout",
  async (args) => {
    expect(await runVirtkit(["validate", ...args])).toMatchObject({ code: 2, out: "" });
  },
);
