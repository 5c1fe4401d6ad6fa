import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const directory = mkdtempSync(join(tmpdir(), "virtkit-network-"));
afterAll(() => rmSync(directory, { recursive: true }));

const vmi = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: vm }
spec:
  domain: { devices: { interfaces: [{ name: default, bridge: {} }] } }
  networks: [{ name: default, pod: {} }]
status: { runtimeUser: 107, migrationTransport: Unix }
`;
const nics = [
  {
    name: "eth0",
    index: 2,
    type: "veth",
    mac: "0a:58:0a:f4:01:05",
    mtu: 1450,
    state: "up",
    addresses: [{ cidr: "10.244.1.5/24" }],
    routes: [{ family: "ipv4", gw: "10.244.1.1" }],
  },
];

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const files = ["-f", file("vmi.yaml", vmi), "--nics", file("nics.json", JSON.stringify(nics))];

test("prints what happens and how to undo it", async () => {
  const { code, out, err } = await runVirtkit(["network", "plan", ...files]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain("network default: bridge on eth0, 10.244.1.5\n");
  expect(out).toContain("guest: 10.244.1.5/24 by DHCP on k6t-eth0, gateway 10.244.1.1");
  expect(out).toMatch(/link-set eth0 name eth0-nic\n[\s\S]*to undo:\n[\s\S]*name eth0\n/);
});

test("prints the plan as data", async () => {
  const { out } = await runVirtkit(["network", "plan", ...files, "-o", "json"]);
  expect(JSON.parse(out)).toMatchObject({ bindings: [{ kind: "bridge" }] });
});

test("says why there is no plan", async () => {
  const lone = file("lo.json", JSON.stringify([{ ...nics[0], name: "lo" }]));
  const args = ["network", "plan", "-f", files[1] ?? "", "--nics", lone];
  const { code, err } = await runVirtkit(args);
  expect(code).toBe(1);
  expect(err).toContain("the Pod has no link eth0");
});

test.each([
  [["network"], 2, "network plan"],
  [["network", "plan"], 2, "--nics"],
  [["network", "plan", ...files, "--flow", "x"], 2, "--flow x"],
  [
    ["network", "plan", "-f", files[1] ?? "", "--nics", file("x", "{")],
    1,
    "cannot be read as JSON",
  ],
  [["network", "plan", "-f", files[1] ?? "", "--nics", file("y", "[{}]")], 1, "list of interfaces"],
  [
    ["network", "plan", "-f", file("z", "kind: Pod"), "--nics", files[3] ?? ""],
    1,
    "VirtualMachineInstance",
  ],
])("refuses %j", async (args, code, message) => {
  const result = await runVirtkit(args);
  expect(result).toMatchObject({ code, out: "" });
  expect(result.err).toContain(message);
});
