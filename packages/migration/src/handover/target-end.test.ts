import { duplexPair } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { destinationXml } from "../target/destination-xml.ts";
import { ControlLink } from "./control-link.ts";
import { type PrepareRequest, serveTarget, type TargetEnd, targetOver } from "./target-end.ts";
import { xmlLimit } from "./xml-limit.ts";

const migration = { migrationUID: "m-1", vmiUID: "vmi-1", epoch: 1, seq: 4 };

/** A target that reads the XML as a launcher does, at the other end of a link. */
function linkedTarget(): { readonly target: TargetEnd; readonly lengths: number[] } {
  const lengths: number[] = [];
  const [near, far] = duplexPair();
  const served = new ControlLink(far, {
    handler: serveTarget({
      prepare: async ({ xml }: PrepareRequest) => {
        lengths.push(xml.length);
        const input = { vmi: {}, sourceXml: xml, own: {} } as Parameters<typeof destinationXml>[0];
        destinationXml(input);
        throw new Error("its guest is somebody else's");
      },
    } as unknown as TargetEnd),
  });
  const link = new ControlLink(near);
  onTestFinished(() => {
    link.close();
    served.close();
  });
  return { target: targetOver(link), lengths };
}

/** A domain of so many characters. */
function domainOf(length: number): string {
  const [begin, end] = ["<domain><name>default_demo</name>", "</domain>"];
  return `${begin}${" ".repeat(length - begin.length - end.length)}${end}`;
}

async function prepare(target: TargetEnd, xml: string): Promise<unknown> {
  const request = { migration, xml, flags: ["live"], cookie: Buffer.from("begin"), paused: false };
  return await target.prepare(request).catch((error: unknown) => error);
}

test("a domain of the greatest length that a target reads arrives there", async () => {
  const { target, lengths } = linkedTarget();
  expect(await prepare(target, domainOf(xmlLimit))).not.toMatchObject({
    message: expect.stringContaining(String(xmlLimit)),
  });
  expect(lengths).toEqual([xmlLimit]);
});

test("a longer one is refused by name before anybody reads it", async () => {
  const { target, lengths } = linkedTarget();
  expect(await prepare(target, domainOf(xmlLimit + 1))).toMatchObject({
    ...{ code: "MIGRATION_INPUT_INVALID", path: "prepare.xml" },
    message: expect.stringContaining(String(xmlLimit)),
  });
  expect(lengths).toEqual([]);
});
