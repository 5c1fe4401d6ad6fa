import { writeFile } from "node:fs/promises";
import { readXmlTree } from "@virtkit/conformance/recorded";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convert } from "./convert.ts";
import { domainFor } from "./domain-for.ts";
import type { Domain } from "./model/domain.ts";
import { hostFacts } from "./resolve/resolve-context.ts";
import { conversions } from "./testing/conversions.ts";
import { type Known, losses, refusals, withoutMaxMemory } from "./testing/libvirt-9.ts";
import { libvirtNotation } from "./testing/libvirt-notation.ts";
import { representativeVmis } from "./testing/representative-vmis.ts";
import { missingFrom } from "./testing/xml-contains.ts";
import { toXml } from "./xml/to-xml.ts";

let daemon: Libvirtd;
beforeAll(async () => {
  daemon = await startLibvirtd({ kvm: true });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

function isKnown(text: string, known: readonly Known[]): boolean {
  return known.some(({ pattern }) => pattern.test(text));
}

/** Defines a domain and reads it back; returns what is lost or refused, unless that is known. */
async function surprises(domain: Domain, worker = 0): Promise<string[]> {
  // libvirt uses the firmware's UUID as the domain's, and two domains cannot share one.
  const uuid = `00000000-0000-4000-8000-00000000000${worker}`;
  const xml = withoutMaxMemory(toXml(domain)).replace(
    /(<entry name="uuid">)[^<]*/,
    (_all, tag: string) => tag + uuid,
  );
  const file = `${daemon.directory}/domain-${worker}.xml`;
  await writeFile(file, xml);
  const { name } = domain;
  let back: string;
  try {
    back = await daemon.virsh(
      `define ${file}; dumpxml --inactive ${name}; undefine --nvram ${name}`,
    );
  } catch (error) {
    const [, message = ""] = /error: (?!Failed to define)(.*)/.exec((error as Error).message) ?? [];
    return isKnown(message, refusals) ? [] : [`${name} is refused: ${message}`];
  }
  const document = back.slice(back.indexOf("<domain"), back.lastIndexOf("</domain>") + 9);
  return missingFrom(libvirtNotation(readXmlTree(xml)), readXmlTree(document))
    .filter((line) => !isKnown(line, losses))
    .map((line) => `${name}: ${line}`);
}

/** All domains, a few at a time. */
async function allSurprises(domains: readonly Domain[]): Promise<string[]> {
  const queue = [...domains];
  const found: string[] = [];
  const work = async (worker: number): Promise<void> => {
    for (let domain = queue.pop(); domain; domain = queue.pop()) {
      found.push(...(await surprises(domain, worker)));
    }
  };
  await Promise.all([0, 1, 2].map(work));
  return found;
}

describe("a real libvirt", { timeout: 300_000 }, () => {
  test("accepts every kind of guest and returns what was requested", async () => {
    const domains = representativeVmis
      .filter(({ vmi }) => vmi.spec.architecture === "amd64")
      .map(({ vmi, environment }) => domainFor(vmi, environment));
    expect(await allSurprises(domains)).toEqual([]);
  });

  const cases = conversions().filter(
    ({ xml, vmi, resolved }) => xml && vmi && resolved?.architecture === "amd64",
  );
  test("accepts what KubeVirt's own code makes of VMIs", async () => {
    const domains = cases.flatMap(({ vmi, resolved, environment }) =>
      vmi && resolved ? [convert(vmi, { ...resolved, host: hostFacts(environment) })] : [],
    );
    expect(await allSurprises(domains)).toEqual([]);
  });

  test("control: an element that it does not know is found missing", async () => {
    const [first] = representativeVmis;
    const domain = domainFor(first?.vmi ?? { spec: { domain: { devices: {} } } });
    domain.extra = { children: [{ name: "nonsense", attributes: { a: "b" } }] };
    expect(await surprises(domain)).toEqual([`${domain.name}: domain/nonsense: not there`]);
  });
});
