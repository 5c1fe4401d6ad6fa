import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const directory = mkdtempSync(join(tmpdir(), "virtkit-diff-"));
afterAll(() => rmSync(directory, { recursive: true }));

const vmi = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: vm, namespace: ns }
spec:
  domain:
    cpu: { sockets: 1, maxSockets: 4 }
    memory: { guest: 1Gi }
    devices:
      disks: [{ name: data, disk: { bus: virtio } }]
      interfaces: [{ name: default, masquerade: {} }]
  networks: [{ name: default, pod: {} }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: c } }]
`;

const other = vmi
  .replace("sockets: 1", "sockets: 2")
  .replace("masquerade: {}", "masquerade: {}, state: down")
  .replace("guest: 1Gi", "guest: 2Gi")
  .replace("    devices:", "    devices:\n      rng: {}");

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const [a, b] = [file("a.yaml", vmi), file("b.yaml", other)];

describe("virtkit diff", () => {
  test("prints the changes for people, by what they need", async () => {
    expect(await runVirtkit(["diff", a, b])).toEqual({
      code: 0,
      err: "",
      out: `live:
  set the link of the interface "default" down
with a migration:
  set the number of CPUs from 1 to 2
    the Pod was created for fewer CPUs, so the guest must move to a new one
  set the memory from 1073741824 to 2147483648 bytes
    the Pod was created for a different amount of memory, so the guest must move to a new one
with a restart:
  add devices.rng
    it is part of the machine that the guest was started with
`,
    });
  });

  test("prints them for programs", async () => {
    const { out } = await runVirtkit(["diff", a, "-", "-o", "json"], other);
    expect(JSON.parse(out)).toMatchObject([
      { kind: "set-link-state", effect: "live", interface: { link: { state: "down" } } },
      { kind: "set-vcpus", effect: "needs-migration", from: 1, to: 2 },
      { kind: "set-memory", effect: "needs-migration" },
      { kind: "change-element", effect: "needs-restart" },
    ]);
  });

  test("finds nothing between a guest and itself, even as XML", async () => {
    expect((await runVirtkit(["diff", a, a])).out).toBe("nothing to change\n");
    const xml = file("a.xml", (await runVirtkit(["convert", "-f", a])).out);
    expect((await runVirtkit(["diff", xml, a])).out).toBe("nothing to change\n");
  });

  test("says where XML is broken", async () => {
    const { code, err } = await runVirtkit(["diff", file("bad.xml", "<domain>\n<a>"), a]);
    expect(code).toBe(1);
    expect(err).toContain("bad.xml: line 2, column 4");
  });

  test.each([[["diff"]], [["diff", a]], [["diff", a, a, a]], [["diff", a, a, "-o", "xml"]]])(
    "refuses %j",
    async (args) => {
      expect((await runVirtkit(args)).code).toBe(2);
    },
  );
});
