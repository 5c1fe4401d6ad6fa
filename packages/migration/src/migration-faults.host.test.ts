import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { afterAll, expect, test } from "vitest";
import { type FaultOutcome, runFault } from "./testing/fault-case.ts";
import { FaultLab } from "./testing/fault-lab.ts";
import type { Fault, FaultMoment } from "./testing/fault-moments.ts";
import { FrameProxy } from "./testing/frame-proxy.ts";
import { domain, patiently, type TwoNodes } from "./testing/two-nodes.ts";

const nodes = new FaultLab();
afterAll(async () => await nodes[Symbol.asyncDispose]());

/**
 * Each fault at the seam where a careless handover loses the guest or runs it twice. The tier `faults` tries them all at
 * every seam.
 */
const worst: readonly (readonly [Fault, FaultMoment, FaultOutcome])[] = [
  ["source launcher", "source finish.after", "stays"],
  ["source launcher", "source decision.after", "moves"],
  ["target launcher", "target release.after", "moves"],
  ["source libvirtd", "source decision.after", "moves"],
  ["target libvirtd", "source finish.after", "moves"],
  ["source QEMU", "source perform.before", "cold"],
  ["target QEMU", "source decision.after", "cold"],
  ["proxy", "source finish.before", "stays"],
  ["link", "source release.before", "moves"],
  ["reply", "source finish.before", "stays"],
  ["reply", "source release.before", "moves"],
  ["source launcher", "post-copy source switch.before", "stays"],
  ["source launcher", "post-copy source switch.after", "moves"],
  ["proxy", "post-copy target running", "moves"],
  ["reply", "post-copy source finish.before", "moves"],
];

test.each(worst)(
  "%s is lost at %s: at most one copy, and it %s",
  // The time is a guard against hanging, beyond that of the case itself: after one that failed, another guest boots first.
  { retry: 1, timeout: 420_000 },
  async (fault, moment, expected) => {
    expect(await nodes.use((lab) => runFault(lab, fault, moment))).toBe(expected);
  },
);

test("control: one lost reply makes libvirt's own peer-to-peer handover run two copies", async () => {
  await nodes.use(beatPeerToPeer);
});

async function beatPeerToPeer(lab: TwoNodes): Promise<void> {
  await lab.boot();
  const [source, target] = lab.nodes;
  const far = FrameProxy.libvirt(`${source.daemon.directory}/p2p`, target.daemon.socket);
  // The answer to finish (306) is lost with its connection: the source takes that for a failure.
  far.rule = ({ direction, name }) => (direction === "reply" && name === "306" ? "cut" : "pass");
  const libvirt = await connectLibvirt({ uri: source.daemon.uri });
  const { dom } = await libvirt.call("domainLookupByName", { name: domain.name });
  const { xml } = await libvirt.call("domainGetXmlDesc", { dom, flags: ["migratable"] });
  const moving = libvirt.call("domainMigratePerform", {
    dom,
    destination: `qemu+unix:///session?socket=${source.daemon.directory}/p2p`,
    params: {
      migrate_uri: `unix://${target.daemon.directory}/naive`,
      destination_xml: xml.replaceAll(source.daemon.directory, target.daemon.directory),
    },
    flags: ["live", "peerToPeer", "persistDestination", "unsafe"],
  });
  await expect(moving).rejects.toMatchObject({ code: "LIBVIRT_REMOTE" });
  await patiently("both copies run", async () => (await lab.running()).length === 2);
  await patiently("a count was made twice", async () => lab.faults().length > 0);
  await libvirt.close();
  far.close();
}
