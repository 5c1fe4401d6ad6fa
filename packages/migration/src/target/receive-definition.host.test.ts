import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { connectLibvirt, type Libvirt } from "@virtkit/domain-manager/libvirt";
import { guestDomainXml, type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TargetEnd } from "../handover/index.ts";
import {
  MemoryGrantStore,
  migration,
  targetHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { destinationXml } from "./destination-xml.ts";
import { ReceiveFile } from "./receive-file.ts";
import { targetGrant } from "./receive-grant.ts";
import { MigrationReceiver } from "./receive-migration.ts";

const directory = temporaryDirectory(afterEach);
const domain = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" } as const;
const smuggled = "/var/tmp/of-the-source";
const flags = ["live", "persistDestination", "changeProtection", "unsafe"] as const;

let source: Libvirtd;
let target: Libvirtd;
let near: Libvirt;
let far: Libvirt;

beforeAll(async () => {
  const start = (hostname: string): Promise<Libvirtd> => startLibvirtd({ hostname });
  [source, target] = await Promise.all([start("source"), start("target")]);
  const connect = ({ uri }: Libvirtd): Promise<Libvirt> => connectLibvirt({ uri });
  [near, far] = await Promise.all([connect(source), connect(target)]);
});

afterEach(async () => {
  for (const daemon of [source, target]) {
    for (const verb of ["destroy", "undefine"]) {
      // What is not there needs no end.
      await daemon.virsh(verb, domain.name).catch(() => {});
    }
  }
});

afterAll(async () => {
  for (const client of [near, far]) await client?.close();
  for (const daemon of [source, target]) await daemon?.[Symbol.asyncDispose]();
});

/** The domain as a node has it; its console's file is the node's. */
async function definition(path: string): Promise<string> {
  const serial = `<serial type='file'><source path='${path}'/>`;
  return guestDomainXml({ ...domain, guest: await source.guest(), cmdline: "hb=none", serial });
}

/** Moves a guest whose source wants another definition to be kept; gives what the target keeps. */
async function keptBy({ prepare, finish }: Pick<TargetEnd, "prepare" | "finish">): Promise<string> {
  const { dom: defined } = await near.call("domainDefineXml", {
    xml: await definition(`${source.directory}/serial.log`),
  });
  const { dom } = await near.call("domainCreate", { dom: defined });
  const params = {
    migrate_uri: `unix://${target.directory}/memory.sock`,
    persistent_xml: await definition(smuggled),
  };
  const begun = await near.call("domainMigrateBegin", { dom, params, flags });
  const asked = { migration, xml: begun.xml, cookie: begun.cookie, flags, paused: false };
  const { cookie } = await prepare(asked);
  const performed = await near.call("domainMigratePerform", { dom, params, cookie, flags });
  await finish({ migration, cookie: performed.cookie, flags: [...flags, "paused"] });
  return await target.virsh("dumpxml", domain.name, "--inactive");
}

/** Makes the target's XML of what the source sends. */
async function joiner(): Promise<(sourceXml: string) => string> {
  const vmi = { metadata: {} } as VirtualMachineInstance;
  const own = parseDomain(await definition(`${target.directory}/serial.log`));
  return (sourceXml) => destinationXml({ vmi, sourceXml, own });
}

test("a source cannot choose a path in the definition that the target keeps", async () => {
  const receiver = new MigrationReceiver({
    ...{ libvirt: far, resume: far, domain, migration },
    listen: `unix://${target.directory}/memory.sock`,
    destinationXml: await joiner(),
    file: new ReceiveFile(directory(), migration.migrationUID),
    grant: targetGrant(new MemoryGrantStore(), targetHolder),
    source: { decision: async () => undefined },
  });
  const kept = await keptBy({
    prepare: (request) => receiver.prepare(request),
    finish: (request) => receiver.finish(request),
  });
  expect(kept).toContain(`${target.directory}/serial.log`);
  expect(kept).not.toContain(smuggled);
  expect(await target.virsh("domstate", domain.name)).toBe("paused");
});

test("control: with libvirt's own way to keep a domain, the source's path is in it", async () => {
  const kept = await keptBy({
    prepare: async ({ xml, cookie }) => {
      const params = {
        migrate_uri: `unix://${target.directory}/memory.sock`,
        destination_name: domain.name,
        destination_xml: (await joiner())(xml),
      };
      return await far.call("domainMigratePrepare", { params, cookie, flags });
    },
    finish: async ({ cookie }) => {
      const params = { destination_name: domain.name };
      const finishing = [...flags, "paused"] as const;
      const asked = { params, cookie, flags: finishing, cancelled: false };
      return await far.call("domainMigrateFinish", asked);
    },
  });
  expect(kept).toContain(smuggled);
});
