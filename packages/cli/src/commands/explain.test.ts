import { Readable, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { main } from "../main.ts";
import { runVirtkit } from "../testing/run-virtkit.ts";

const vmi = `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: vm, namespace: ns }
spec:
  domain:
    memory: { guest: 1Gi }
    cpu: { cores: 2 }
    devices:
      disks: [{ name: data, disk: { bus: virtio }, cache: none }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: c } }]
`;

async function explain(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return await runVirtkit(["explain", "-f", "-", ...args], vmi);
}

describe("virtkit explain", () => {
  test("prints the XML with the reasons beside it, and what the rules are", async () => {
    const { code, out, err } = await explain();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/<name>ns_vm<\/name> +metadata.name, metadata.namespace\n/);
    expect(out).toMatch(/\n +@machine: spec.domain.machine.type \(default\)\n/);
    expect(out).toMatch(
      /<graphics type="vnc"> +spec.domain.devices.autoattachGraphicsDevice \(not/,
    );
    expect(out).toContain("\n  rule channels: Channels for the guest agent");
    expect(out).not.toContain("\u001b");
  });

  test("prints one part of the XML", async () => {
    const { out } = await explain("--path", "devices.disk.driver.cache");
    expect(out).toMatch(
      /^ +<driver name="qemu" .*\n +@cache: spec.domain.devices.disks\[0\].cache\n$/,
    );
  });

  test("prints what follows from a field", async () => {
    const { out } = await explain("--field", "spec.domain.cpu");
    expect(out).toContain('spec.domain.cpu.cores = 2\n  vcpu = "2"\n');
    expect(out).not.toContain("metadata.name");
  });

  test("prints JSON with a sentence for each reason", async () => {
    const { out } = await explain("--path", "memory", "-o", "json");
    const [memory, unit] = JSON.parse(out).nodes;
    expect(memory).toEqual({
      path: "memory",
      kind: "element",
      name: "memory",
      value: "1073741824",
      sources: [
        {
          kind: "field",
          path: "spec.domain.memory.guest",
          value: "1Gi",
          because: 'It follows from spec.domain.memory.guest ("1Gi").',
        },
      ],
      step: {
        kind: "rule",
        name: "memory",
        summary: "How much memory the guest has, and how much it can be given later.",
      },
    });
    expect(unit.path).toBe("memory.@unit");
  });

  test("uses colour on a terminal, unless NO_COLOR is set", async () => {
    expect(await onTerminal({})).toContain("\u001b[36m");
    expect(await onTerminal({ NO_COLOR: "1" })).not.toContain("\u001b");
  });

  test("says so if nothing matches", async () => {
    const missing = await explain("--path", "devices.tpm");
    expect(missing).toMatchObject({
      code: 1,
      out: "",
      err: "virtkit: the domain has no devices.tpm\n",
    });
    const nothing = await explain("--field", "spec.hostname", "--path", "devices");
    expect(nothing.err).toBe("virtkit: nothing at devices comes from spec.hostname\n");
  });

  test("needs a file", async () => {
    expect((await runVirtkit(["explain"])).code).toBe(2);
    expect((await explain("-o", "yaml")).code).toBe(2);
  });
});

async function onTerminal(env: Record<string, string>): Promise<string> {
  let text = "";
  const stdout = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  const stdin = Readable.from([Buffer.from(vmi)]);
  const io = { stdin, stdout, stderr: stdout, isTerminal: true, env };
  await main(["explain", "-f", "-", "--path", "vcpu"], io);
  return text;
}
