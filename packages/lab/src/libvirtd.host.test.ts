import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { guestDomainXml } from "./guest-domain.ts";
import { type Libvirtd, startLibvirtd } from "./libvirtd.ts";

/** Every process that names the folder in its command line, or has a mount of it. */
function tracesOf(directory: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return line.includes(directory) || readlinkSync(`/proc/${pid}/cwd`).includes(directory);
      } catch {
        return false;
      }
    });
}

async function untilAgent(daemon: Libvirtd, domain: string): Promise<void> {
  for (;;) {
    try {
      await daemon.virsh("qemu-agent-command", domain, '{"execute":"guest-ping"}');
      return;
    } catch {
      await sleep(100);
    }
  }
}

test("a guest boots, answers through its agent, outlives its daemon, and leaves nothing", async () => {
  const daemon = await startLibvirtd();
  const { directory } = daemon;
  try {
    expect(await daemon.virsh("uri")).toBe(daemon.uri);
    const guest = await daemon.guest();
    await writeFile(`${directory}/domain.xml`, guestDomainXml({ name: "vm1", guest }));
    await daemon.virsh("define", `${directory}/domain.xml`);
    await daemon.virsh("start", "vm1");
    await untilAgent(daemon, "vm1");
    const id = await daemon.virsh("domid", "vm1");
    await daemon.kill("KILL");
    await expect(daemon.virsh("domid", "vm1")).rejects.toThrow("libvirt-sock");
    await daemon.restart();
    expect(await daemon.virsh("domid", "vm1")).toBe(id);
    expect(await daemon.run("id", "-u")).toBe("107\n");
    expect(tracesOf(directory)).not.toEqual([]);
  } finally {
    await daemon[Symbol.asyncDispose]();
  }
  expect(existsSync(directory)).toBe(false);
  expect(tracesOf(directory)).toEqual([]);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(directory);
});

test("two daemons do not see each other's domains", async () => {
  const [one, two] = [
    await startLibvirtd({ hostname: "one" }),
    await startLibvirtd({ hostname: "two" }),
  ];
  onTestFinished(() => one[Symbol.asyncDispose]());
  onTestFinished(() => two[Symbol.asyncDispose]());
  const xml = guestDomainXml({ name: "vm1", guest: await one.guest() });
  await writeFile(`${one.directory}/domain.xml`, xml);
  await one.virsh("define", `${one.directory}/domain.xml`);
  expect(await one.virsh("list", "--all", "--name")).toBe("vm1");
  expect(await two.virsh("list", "--all", "--name")).toBe("");
  expect([await one.virsh("hostname"), await two.virsh("hostname")]).toEqual(["one", "two"]);
});

test("a daemon that cannot start says why, and its folder is removed", async () => {
  const before = readdirSync("/tmp").filter((name) => name.startsWith("virtkit-lab-"));
  const tls = { port: 1, ca: "/nowhere", certificate: "/nowhere", key: "/nowhere" };
  await expect(startLibvirtd({ tls })).rejects.toMatchObject({ code: "LAB_NOT_READY" });
  expect(readdirSync("/tmp").filter((name) => name.startsWith("virtkit-lab-"))).toEqual(before);
});
