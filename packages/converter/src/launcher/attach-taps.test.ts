import type { Interface } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { convert } from "../convert.ts";
import { type Changes, smallContext, smallVmi } from "../testing/conversion.ts";
import { attachTaps } from "./attach-taps.ts";

const links = {
  eth0: { mac: "02:00:00:00:00:01", mtu: 1450 },
  tap0: {},
  pod9404eea3257: { mac: "02:00:00:00:00:02", mtu: 1400 },
  tap9404eea3257: {},
};

function attached(
  card: Partial<Interface>,
  network: object,
  podLinks: Record<string, object> = links,
): object | undefined {
  const attachments = { net0: "tap" };
  const changes: Changes = {
    devices: { interfaces: [{ name: "net0", ...card }] },
    spec: { networks: [{ name: "net0", ...network }] },
    context: { domainAttachmentByInterfaceName: attachments },
  };
  const vmi = smallVmi(changes);
  const domain = convert(vmi, smallContext(changes));
  return attachTaps(domain, vmi, { attachments, links: podLinks }).devices.interfaces[0];
}

describe("attachTaps", () => {
  test("plugs the first card into tap0", () => {
    expect(attached({}, { pod: {} })).toMatchObject({
      target: { dev: "tap0", managed: "no" },
      mac: { address: "02:00:00:00:00:01" },
      mtu: { size: 1450 },
    });
  });

  test("finds secondary cards by the hash of their network's name, or by their number", () => {
    const multus = { multus: { networkName: "nad" } };
    expect(attached({}, multus)).toMatchObject({
      target: { dev: "tap9404eea3257" },
      mtu: { size: 1400 },
    });
    const numbered = { net1: { mac: "02:00:00:00:00:03", mtu: 1300 }, tap1: {} };
    expect(attached({}, multus, numbered)).toMatchObject({
      target: { dev: "tap1" },
      mtu: { size: 1300 },
    });
  });

  test("uses the Pod's own link if there is no TAP device", () => {
    expect(attached({}, { pod: {} }, { eth0: links.eth0 })).toMatchObject({
      target: { dev: "eth0" },
    });
  });

  test("keeps a given address, in libvirt's notation", () => {
    expect(attached({ macAddress: "02-00-00-AA-BB-CC" }, { pod: {} })).toMatchObject({
      mac: { address: "02:00:00:aa:bb:cc" },
    });
  });

  test("attaches one card per name", () => {
    const attachments = { net0: "tap" };
    const first = { name: "net0", macAddress: "02:00:00:00:00:0a" };
    const changes: Changes = {
      devices: { interfaces: [first, { name: "net0", macAddress: "02:00:00:00:00:0b" }] },
      spec: { networks: [{ name: "net0", pod: {} }] },
      context: { domainAttachmentByInterfaceName: attachments },
    };
    const vmi = smallVmi(changes);
    const domain = attachTaps(convert(vmi, smallContext(changes)), vmi, { attachments, links });
    expect(domain.devices.interfaces.map(({ mac, target }) => [mac?.address, target?.dev])).toEqual(
      [
        ["02:00:00:00:00:0a", "tap0"],
        ["02:00:00:00:00:0b", undefined],
      ],
    );
  });

  test("fails for a network that is neither the Pod's nor one of Multus", () => {
    expect(() => attached({}, {})).toThrow(expect.objectContaining({ path: "spec.networks" }));
  });

  test("fails without the link", () => {
    expect(() => attached({}, { pod: {} }, {})).toThrow(
      expect.objectContaining({ path: "podLinks" }),
    );
  });
});

test("refuses an invalid network with its path", () => {
  const vmi = smallVmi({});
  const odd = { ...vmi, spec: { ...vmi.spec, networks: [null] } } as never;
  const domain = convert(vmi, smallContext({}));
  expect(() => attachTaps(domain, odd, { attachments: {}, links: {} })).toThrow(
    expect.objectContaining({ code: "CONVERTER_VMI_MALFORMED", path: "spec.networks[0]" }),
  );
});
