import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Fault, type FaultMoment, type FaultOutcome, runFault } from "./testing/fault-case.ts";
import { FrameProxy } from "./testing/frame-proxy.ts";
import { domain, patiently, TwoNodes } from "./testing/two-nodes.ts";

let lab: TwoNodes;
/** Whether the case before left the nodes as the next one needs them. */
let isReady = true;

async function startNodes(): Promise<void> {
  lab = await TwoNodes.start();
  await lab.boot();
}

beforeAll(startNodes, 180_000);
afterAll(async () => await lab?.[Symbol.asyncDispose]());

/** Each fault at the seam where a careless handover loses the guest or runs it twice. */
const worst: readonly (readonly [Fault, FaultMoment, FaultOutcome])[] = [
  ["source launcher", "source finish.after", "stays"],
  ["source launcher", "source decision.after", "moves"],
  ["target launcher", "target finish.after", "stays"],
  ["target launcher", "target release.after", "moves"],
  ["source libvirtd", "source perform.after", "moves"],
  ["source libvirtd", "source decision.after", "moves"],
  ["target libvirtd", "source finish.after", "moves"],
  ["proxy", "source finish.before", "stays"],
  ["link", "source finish.before", "stays"],
  ["link", "source release.before", "moves"],
  ["reply", "source finish.before", "stays"],
  ["reply", "source perform.before", "stays"],
  ["reply", "source release.before", "moves"],
  ["source launcher", "target claim.before", "moves"],
];

// A case with a killed libvirtd did not end once in seven runs, and it is not known yet why: it is tried once more,
// with new nodes, so that those after it are not lost with it.
test.each(worst)(
  "%s is lost at %s: one copy, and it %s",
  { retry: 1 },
  async (fault, moment, expected) => {
    if (!isReady) {
      await lab[Symbol.asyncDispose]();
      await startNodes();
    }
    isReady = false;
    expect(await runFault(lab, fault, moment)).toBe(expected);
    isReady = true;
  },
);

test("control: libvirt's own handover, peer to peer, is beaten by one lost reply: two copies run", async () => {
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
});
