import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type GuestDomainOptions, guestDomainXml, type Libvirtd, runProgram } from "@virtkit/lab";
import type { DomainRef } from "../libvirt/event-hub.ts";
import type { Libvirt } from "../libvirt/libvirt.ts";

/** A disk image for a guest, writable by the daemon's user. */
export async function createImage(
  daemon: Libvirtd,
  name: string,
  format: "raw" | "qcow2" | "ext4",
  size: string,
): Promise<string> {
  const path = `${daemon.directory}/${name}`;
  await runProgram("qemu-img", [
    "create",
    "-q",
    "-f",
    format === "qcow2" ? format : "raw",
    path,
    size,
  ]);
  if (format === "ext4") await runProgram("mkfs.ext4", ["-q", "-F", path]);
  await runProgram("chown", ["107:107", path]);
  return path;
}

/** What a test's guest has in addition to the lab's. */
export interface FixtureOptions extends Omit<GuestDomainOptions, "name" | "guest"> {
  /** A final change to the XML. */
  readonly adapt?: (xml: string) => string;
}

/** Defines and starts a guest, and waits until its agent answers. */
export async function startGuest(
  daemon: Libvirtd,
  libvirt: Libvirt,
  name: string,
  options: FixtureOptions = {},
): Promise<DomainRef> {
  const { adapt = (xml) => xml, ...rest } = options;
  const guest = await daemon.guest();
  const xml = adapt(guestDomainXml({ name, guest, ...rest }));
  await writeFile(`${daemon.directory}/${name}.xml`, xml);
  const { dom: defined } = await libvirt.call("domainDefineXml", { xml });
  const { dom } = await libvirt.call("domainCreate", { dom: defined });
  await untilAgent(libvirt, dom);
  return dom;
}

/** Waits until the guest's agent answers. */
export async function untilAgent(libvirt: Libvirt, dom: DomainRef): Promise<void> {
  const end = Date.now() + 110_000;
  for (;;) {
    try {
      await agent(libvirt, dom, "guest-ping", undefined, 5);
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(100);
    }
  }
}

/** Asks the guest's agent. On a busy host its answer takes many seconds. */
export async function agent(
  libvirt: Libvirt,
  dom: DomainRef,
  execute: string,
  args?: object,
  timeout = 30,
): Promise<unknown> {
  const command = JSON.stringify(args ? { execute, arguments: args } : { execute });
  const { result } = await libvirt.call("qemuAgentCommand", { dom, command, timeout });
  return JSON.parse(result ?? "null").return;
}

/** Runs a shell command in the guest; returns its output. */
export async function inGuest(libvirt: Libvirt, dom: DomainRef, script: string): Promise<string> {
  const args = { path: "/bin/sh", arg: ["-c", script], "capture-output": true };
  const { pid } = (await agent(libvirt, dom, "guest-exec", args)) as { pid: number };
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    const status = (await agent(libvirt, dom, "guest-exec-status", { pid })) as {
      exited: boolean;
      "out-data"?: string;
    };
    if (status.exited) return Buffer.from(status["out-data"] ?? "", "base64").toString();
    await sleep(50);
  }
  throw new Error(`the guest has not done "${script}" in a minute`);
}
