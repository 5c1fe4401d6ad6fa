import { expect, test } from "vitest";
import { runVirtkit } from "./testing/run-virtkit.ts";

const vm = (matchers: string): string => `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: vm }
spec:
${matchers}
  runStrategy: Always
  template:
    spec: { domain: { devices: { disks: [{ name: d }] } }, volumes: [{ name: d, emptyDisk: { capacity: 1Gi } }] }
`;
const small = `
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineClusterInstancetype
metadata: { name: small }
spec: { cpu: { guest: 2 }, memory: { guest: 384Mi } }
`;
const sata = `
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachinePreference
metadata: { name: sata }
spec: { devices: { preferredDiskBus: sata } }
`;
const both = `  instancetype: { name: small }
  preference: { kind: VirtualMachinePreference, name: sata }`;

test.each(["convert", "explain", "pod"])(
  "virtkit %s refuses a VM whose instance type is missing, and prints nothing",
  async (command) => {
    const { code, out, err } = await runVirtkit([command, "-f", "-"], vm(both));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/stdin:6:3: spec\.instancetype names "small" of the cluster.*pass it with/);
    expect(err).toMatch(/stdin:7:3: spec\.preference names "sata" of the VM's namespace/);
  },
);

test("the domain has what the type and the preference set, once they are given", async () => {
  const { code, out, err } = await runVirtkit(
    ["convert", "-f", "-"],
    [vm(both), small, sata].join("---\n"),
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(`<memory unit="b">${384 * 2 ** 20}</memory>`);
  expect(out).toContain('bus="sata"');
  expect(out).toContain('<vcpu id="1" enabled="yes"');
});

test("explain and pod apply them as well", async () => {
  const text = [vm(both), small, sata].join("---\n");
  expect((await runVirtkit(["explain", "-f", "-"], text)).out).toContain(`${384 * 2 ** 20}`);
  const pod = await runVirtkit(["pod", "-f", "-", "-o", "json"], text);
  expect(pod).toMatchObject({ code: 0, out: expect.stringContaining("small") });
});

test.each([
  ["  instancetype: { kind: Other, name: small }", /spec\.instancetype\.kind is "Other"/],
  ["  instancetype: { inferFromVolume: d }", /spec\.instancetype has no name/],
  ["  instancetype: { kind: VirtualMachineInstancetype, name: small }", /of the VM's namespace/],
])("refuses %s", async (matchers, words) => {
  const { code, out, err } = await runVirtkit(
    ["convert", "-f", "-"],
    [vm(matchers), small].join("---\n"),
  );
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(words);
});

test("refuses a type and a template that contradict each other, with the field", async () => {
  const text = vm("  instancetype: { name: small }").replace(
    "domain: {",
    "domain: { memory: { guest: 1Gi },",
  );
  const { code, out, err } = await runVirtkit(["convert", "-f", "-"], `${text}---${small}`);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(/spec\.template\.spec\.domain\.memory/);
});

test("refuses an invalid type at its place", async () => {
  const wrong = small.replace("guest: 2", "guest: [2]");
  const { code, err } = await runVirtkit(
    ["convert", "-f", "-"],
    `${vm("  instancetype: { name: small }")}---${wrong}`,
  );
  expect(code).toBe(1);
  expect(err).toMatch(/^stdin:14:16: spec\.cpu\.guest/);
});
