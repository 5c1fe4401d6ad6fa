import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import { createImage, startGuest } from "../testing/guest-fixture.ts";
import { GuestAgent } from "./guest-agent.ts";

let daemon: Libvirtd;
let libvirt: Libvirt;
let dom: DomainRef;
let agent: GuestAgent;

const port = "/dev/virtio-ports/org.qemu.guest_agent.0";

beforeAll(async () => {
  daemon = await startLibvirtd();
  libvirt = await connectLibvirt({ uri: daemon.uri });
  const image = await createImage(daemon, "fs.img", "ext4", "16M");
  dom = await startGuest(daemon, libvirt, "agent1", {
    cmdline: "hb=none",
    memoryMiB: 256,
    devices: `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${image}'/>
      <target dev='vda' bus='virtio'/><serial>DATA</serial></disk>`,
  });
  // The host may be busy: what counts is the answer, not its speed.
  agent = new GuestAgent({ libvirt, dom, timeout: 60_000 });
});

afterAll(async () => {
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

/** Runs a shell script in the guest. */
const shell = async (script: string, timeout = 60_000) =>
  await agent.exec("/bin/sh", { args: ["-c", script], timeout });

/** Starts a shell script in the guest that outlives the agent. */
const inBackground = async (script: string): Promise<void> =>
  await agent.command("guest-exec", { path: "setsid", arg: ["sh", "-c", script] }, () => {});

test("a real agent answers every question", async () => {
  await agent.ping();
  const { version, commands } = await agent.info();
  expect(version).toMatch(/^\d+\.\d+/);
  expect(commands).toContainEqual({ name: "guest-exec", enabled: true });
  expect(await agent.os()).toMatchObject({ machine: "x86_64", kernelRelease: expect.any(String) });
  expect(await agent.hostname()).toBe("guest");
  expect(await agent.timezone()).toMatchObject({ offset: 0 });
  expect(await agent.interfaces()).toEqual([]);
  expect(await agent.users()).toContainEqual({ userName: "root", loginTime: expect.any(Number) });
  expect(await agent.fsFreezeStatus()).toBe("thawed");
});

test("reports file systems, with their usage and disk", async () => {
  const [found] = await agent.fileSystems();
  expect(found).toMatchObject({
    diskName: "vda",
    mountPoint: "/mnt/vda",
    fileSystemType: "ext4",
    usedBytes: expect.any(Number),
  });
  expect(found?.totalBytes).toBeGreaterThan(1 << 20);
});

test("runs a program with input, output, errors and exit code", async () => {
  const script = "cat; echo oops >&2; exit 3";
  const input = "Grüße\n";
  expect(await agent.exec("/bin/sh", { args: ["-c", script], input, timeout: 60_000 })).toEqual({
    exitCode: 3,
    stdout: "Grüße\n",
    stderr: "oops\n",
  });
  expect(await shell("kill -9 $$")).toMatchObject({ exitCode: 137 });
  expect((await shell("sleep 1; echo late")).stdout).toBe("late\n");
});

test("fails for a program that does not end in time, and for a missing one", async () => {
  await expect(shell("sleep 60", 5_000)).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT" });
  await expect(agent.exec("/no/such/program")).rejects.toMatchObject({
    code: "DOMAIN_AGENT",
    message: expect.stringMatching(/^guest agent, guest-exec: .*no\/such\/program/),
  });
});

test("returns a million bytes of output, and fails for more than libvirt passes on", async () => {
  expect((await shell("head -c 1000000 /dev/zero | tr '\\0' x")).stdout).toHaveLength(1_000_000);
  await expect(shell("head -c 6000000 /dev/zero | tr '\\0' x")).rejects.toMatchObject({
    path: "guest-exec-status",
  });
  await agent.ping();
});

test("freezes and thaws file systems", async () => {
  expect(await agent.freeze()).toBe(1);
  expect(await agent.fsFreezeStatus()).toBe("frozen");
  expect(await agent.thaw()).toBe(1);
  expect(await agent.fsFreezeStatus()).toBe("thawed");
});

test("sets the guest's clock", async () => {
  await agent.setTime(2_000_000_000_000);
  expect(Number((await shell("date +%s")).stdout)).toBeGreaterThanOrEqual(2_000_000_000);
});

test("agent silent: a clear error after the deadline, and an answer once it is back", async () => {
  await inBackground("pid=$(cat /run/qga.pid); kill -STOP $pid; sleep 5; kill -CONT $pid");
  const silent = async () => {
    for (;;) await agent.ping({ timeout: 1_000 });
  };
  await expect(silent()).rejects.toMatchObject({
    code: "DOMAIN_AGENT",
    message: expect.stringContaining("check in the guest whether qemu-guest-agent runs"),
  });
  await untilAnswered();
});

test("agent answering 100 MiB: an error that names the command, and memory that does not grow", async () => {
  const flood = `
    sleep 1; kill $(cat /run/qga.pid); sleep 1
    exec 3<>${port}
    asked=0
    while [ $asked = 0 ]; do
      # Nothing to read until the host has opened its end.
      read -r line <&3 || { usleep 100000; continue; }
      case "$line" in
      *guest-sync*) id=\${line##*id\\":}; id=\${id%%\\}*}; echo "{\\"return\\":$id}" >&3;;
      *) asked=1; echo 0 > /tmp/mib
         { printf '{"return":{"host-name":"'
           n=0; while [ $n -lt 100 ]; do
             head -c 1048576 /dev/zero | tr '\\0' x; n=$((n + 1)); echo $n > /tmp/mib
           done; echo '"}}'; } >&3 &
         # The host stops reading after 10 MiB: then the rest is in the way of the next agent.
         while [ $(cat /tmp/mib) -lt 10 ]; do sleep 1; done
         sleep 3; kill -9 $!; killall -9 head tr;;
      esac
    done
    exec 3<&-
    qemu-ga -d -m virtio-serial -p ${port} -t /run -f /run/qga.pid`;
  await inBackground(flood);
  const before = process.memoryUsage().rss;
  const end = Date.now() + 120_000;
  const flooded = async (): Promise<void> => {
    while (Date.now() < end) {
      try {
        // The real agent may still answer the first question. On a busy host ten MiB take long.
        await agent.hostname({ timeout: 100_000 });
      } catch (error) {
        // Between the two agents there is none.
        if (!/not connected|disappeared/.test(String(error))) throw error;
      }
      await sleep(50);
    }
  };
  await expect(flooded()).rejects.toMatchObject({
    code: "DOMAIN_AGENT",
    // libvirtd accepts 10 MiB.
    message: expect.stringMatching(/^guest agent, guest-get-host-name: .* 10485760 bytes/),
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(64 << 20);
  await untilAnswered();
});

test("asks the guest to power off", async () => {
  await agent.shutdown({ timeout: 60_000 });
  await expect
    .poll(async () => (await libvirt.call("domainGetState", { dom })).state, { timeout: 60_000 })
    .toBe("shutoff");
  await expect(agent.ping()).rejects.toMatchObject({ code: "DOMAIN_STATE" });
});

async function untilAnswered(): Promise<void> {
  const end = Date.now() + 100_000;
  for (;;) {
    try {
      return await agent.ping({ timeout: 5_000 });
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(200);
    }
  }
}
