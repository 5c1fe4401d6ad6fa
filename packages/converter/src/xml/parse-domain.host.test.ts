import { writeFile } from "node:fs/promises";
import { diffXmlTrees, readXmlTree } from "@virtkit/conformance/recorded";
import { guestDomainXml, type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { diffDomains } from "../diff/diff-domains.ts";
import { toMigrationXml } from "../migration/to-migration-xml.ts";
import { parseDomain } from "./parse-domain.ts";
import { toXml } from "./to-xml.ts";

let daemon: Libvirtd;
let asked: string;

const devices = `
  <disk type='file' device='cdrom'><target dev='sda' bus='sata'/><readonly/></disk>
  <interface type='user'><mac address='52:54:00:00:00:01'/><model type='virtio'/></interface>
  <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
  <input type='tablet' bus='virtio'/>
  <video><model type='vga'/></video>
  <graphics type='vnc'><listen type='none'/></graphics>`;

beforeAll(async () => {
  daemon = await startLibvirtd();
  asked = guestDomainXml({ name: "live", guest: await daemon.guest(), devices });
  await define("asked", asked);
  await daemon.virsh("start", "live");
});

afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
});

async function define(name: string, xml: string): Promise<void> {
  const file = `${daemon.directory}/${name}.xml`;
  await writeFile(file, xml);
  await daemon.virsh("define", file);
}

test.each([
  ["running", []],
  ["as it will start next", ["--inactive"]],
  ["as it would migrate", ["--migratable"]],
])("a domain %s survives reading and writing", async (_how, flags) => {
  const dump = await daemon.virsh("dumpxml", ...flags, "live");
  const domain = parseDomain(dump);
  expect(diffXmlTrees(readXmlTree(toXml(domain)), readXmlTree(dump))).toEqual([]);
  expect(diffXmlTrees(readXmlTree(toMigrationXml(domain, {})), readXmlTree(dump))).toEqual([]);
  expect(parseDomain(toXml(domain))).toEqual(domain);
});

test("libvirt accepts what was written, and reports it as before", async () => {
  const dump = await daemon.virsh("dumpxml", "--inactive", "live");
  await define("written", toXml(parseDomain(dump)));
  expect(await daemon.virsh("dumpxml", "--inactive", "live")).toBe(dump);
});

test("what libvirt filled in is not a difference", async () => {
  const running = parseDomain(await daemon.virsh("dumpxml", "live"));
  expect(diffDomains(running, parseDomain(asked)).map(({ summary }) => summary)).toEqual([]);
  const changed = asked.replace("<acpi/>", "<acpi/><pmu state='off'/>");
  expect(diffDomains(running, parseDomain(changed)).map(({ summary }) => summary)).toEqual([
    "add features.pmu",
  ]);
});
