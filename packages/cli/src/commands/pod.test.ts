import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runVirtkit } from "../testing/run-virtkit.ts";

const vmi = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: demo }
spec:
  domain:
    memory: { guest: 256Mi }
    devices:
      disks: [{ name: root, disk: { bus: virtio } }]
  volumes:
    - name: root
      persistentVolumeClaim: { claimName: disk }
`;
const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: disk }
spec: { volumeMode: Block }
`;
const vm = `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: subject, namespace: ns }
spec:
  runStrategy: Always
  template:
    spec:
      domain: { memory: { guest: 1Gi }, devices: {} }
`;

interface PrintedPod {
  readonly kind: string;
  readonly metadata: { namespace: string; generateName: string };
  readonly spec: { containers: { image: string; volumeDevices?: unknown[] }[] };
}

function pods(text: string): PrintedPod[] {
  return parseAllDocuments(text).map((document) => document.toJS() as PrintedPod);
}

test("prints the Pod of each VMI and VM, with defaults, and looks up claims in the same files", async () => {
  const { code, out, err } = await runVirtkit(["pod", "-f", "-"], `${vmi}---${claim}---${vm}`);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [first, second, ...others] = pods(out);
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    kind: "Pod",
    metadata: { namespace: "default", generateName: "virt-launcher-demo-" },
  });
  expect(first?.spec.containers[0]?.volumeDevices).toEqual([
    { name: "root", devicePath: "/dev/root" },
  ]);
  expect(second?.metadata).toMatchObject({
    namespace: "ns",
    generateName: "virt-launcher-subject-",
  });
});

test("--launcher and --image choose the launcher", async () => {
  const { out } = await runVirtkit(
    ["pod", "-f", "-", "-o", "json", "--launcher", "kubevirt", "--image", "l:2"],
    vm,
  );
  const pod = JSON.parse(out) as PrintedPod;
  expect(pod.spec.containers[0]).toMatchObject({
    image: "l:2",
    command: expect.arrayContaining(["/usr/bin/virt-launcher-monitor"]) as unknown,
  });
});

test("--explain says where parts come from and itemises the overhead", async () => {
  const { code, out } = await runVirtkit(["pod", "-f", "-", "--explain"], `${vmi}---${claim}`);
  expect(code).toBe(0);
  expect(out).toMatch(/^Launcher Pod of default\/demo$/m);
  expect(out).toMatch(/^ {2}root +vmi\.spec\.volumes\[0\]: a claim/m);
  expect(out).toMatch(/^Memory overhead: 198Mi$/m);
  expect(out).toMatch(/^ {2}qemu +30Mi +a process/m);
  const json = await runVirtkit(["pod", "-f", "-", "--explain", "-o", "json"], `${vmi}---${claim}`);
  expect(JSON.parse(json.out)).toMatchObject({
    pod: { kind: "Pod" },
    memoryOverhead: { total: "198Mi" },
  });
});

test.each([
  ["a claim that does not exist", vmi, "spec.volumes[0].persistentVolumeClaim.claimName"],
  ["an error in the schema", vmi.replace("256Mi", "[]"), "stdin:7:"],
  ["no VMI at all", claim, "no VirtualMachineInstance"],
  ["text that cannot be read", "{", "stdin:1:"],
  [
    "an instancetype that is not applied",
    vm.replace("runStrategy", "instancetype: { name: x }\n  runStrategy"),
    "spec.instancetype",
  ],
])("%s exits 1 with the place", async (_, text, place) => {
  const { code, out, err } = await runVirtkit(["pod", "-f", "-"], text);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain(place);
});

test("a VMI that cannot have a Pod does not keep others from theirs", async () => {
  const broken = vm.replace("guest: 1Gi", "guest: []");
  const { code, out, err } = await runVirtkit(
    ["pod", "-f", "-"],
    `${vmi}---${broken}---${vm}---\nkind: [\n`,
  );
  expect(code).toBe(1);
  expect(pods(out).map(({ metadata }) => metadata.generateName)).toEqual([
    "virt-launcher-subject-",
  ]);
  const [unread, missing, wrong, ...others] = err.trimEnd().split("\n").toSorted();
  expect(unread).toMatch(/^stdin:12:\d+: spec\.volumes\[0\]\.persistentVolumeClaim\.claimName/);
  expect(unread).toMatch(/, or pass it with -f$/);
  expect(missing).toMatch(/^stdin:21:\d+: spec\.template\.spec\.domain\.memory\.guest /);
  expect(wrong).toMatch(/^stdin:3\d:/);
  expect(others.every((line) => line.startsWith("stdin:3"))).toBe(true);
});

test("a fault that rendering finds is reported in the template of a VM", async () => {
  const volumes = "volumes: [{ name: d, persistentVolumeClaim: { claimName: none } }]";
  const { err } = await runVirtkit(["pod", "-f", "-"], `${vm}      ${volumes}\n`);
  expect(err).toMatch(/^stdin:10:53: spec\.volumes\[0\]/);
});

test.each([[["pod"]], [["pod", "-f", "-", "--launcher", "x"]], [["pod", "-f", "-", "-o", "xml"]]])(
  "%j is wrong usage",
  async (args) => {
    expect((await runVirtkit(args, vm)).code).toBe(2);
  },
);
