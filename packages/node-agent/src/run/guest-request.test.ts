import { withHostDisks } from "@virtkit/converter";
import { expect, test } from "vitest";
import { noFacts, type PreparationFacts } from "../prepare/preparation-facts.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { guestRequest, withDefaults } from "./guest-request.ts";

const vmi = sampleVmi([
  { name: "root", containerDisk: { image: "x" } },
  { name: "data", persistentVolumeClaim: { claimName: "c" } },
]);
const facts: PreparationFacts = {
  ...noFacts,
  images: { root: { path: "/disk/a", format: "qcow2", virtualSize: 1n << 30n } },
};
const podLinks = { tap0: { mac: "02:00:00:00:00:01", mtu: 1450 } };

function withClaim(volumeMode: "Block" | "Filesystem") {
  const persistentVolumeClaimInfo = { volumeMode, capacity: { storage: "2Mi" } };
  const volumeStatus = [{ name: "data", target: "", persistentVolumeClaimInfo }];
  const known = { ...vmi, status: { ...vmi.status, volumeStatus } };
  return withHostDisks(withDefaults(known, {}));
}

test("what was seen of the sandbox is in the context, unless the environment overrides it", () => {
  const seen = guestRequest({ vmi: withClaim("Block"), facts, podLinks }, {});
  expect(seen).toMatchObject({
    context: {
      disksInfo: { root: { format: "qcow2", "virtual-size": 1 << 30 } },
      isBlockPVC: { data: true },
      hypervisorDeviceAvailable: false,
    },
    pod: { podLinks },
  });
  const there = { ...facts, entries: { "/dev/kvm": "char" } } as const;
  const { context } = guestRequest({ vmi: withClaim("Block"), facts: there, podLinks }, {});
  expect(context.hypervisorDeviceAvailable).toBe(true);
  const told = guestRequest(
    { vmi: withClaim("Block"), facts: there, podLinks },
    { hypervisorDeviceAvailable: false, noDirectIO: ["/run"] },
  );
  expect(told).toMatchObject({
    context: { hypervisorDeviceAvailable: false },
    pod: { noDirectIO: ["/run"] },
  });
});

test("the launcher gets an image on a claim with a file system", () => {
  const request = guestRequest({ vmi: withClaim("Filesystem"), facts, podLinks }, {});
  expect(request.vmi.spec.volumes?.[1]).toMatchObject({
    name: "data",
    hostDisk: { path: expect.stringContaining("disk.img"), type: "DiskOrCreate" },
  });
});

test("the request is plain JSON", () => {
  const request = guestRequest({ vmi: withClaim("Block"), facts, podLinks }, {});
  expect(JSON.parse(JSON.stringify(request))).toEqual(request);
});

test("a VMI gets the same defaults each time", () => {
  const once = withDefaults(vmi, {});
  expect(once.spec.domain.firmware?.uuid).toMatch(/^[0-9a-f-]{36}$/);
  expect(withDefaults(vmi, {}).spec).toEqual(once.spec);
  expect(withDefaults(once, {})).toBe(once);
  const other = withDefaults({ ...vmi, metadata: { ...vmi.metadata, uid: "other" } }, {});
  expect(other.spec.domain.firmware?.uuid).not.toBe(once.spec.domain.firmware?.uuid);
});
