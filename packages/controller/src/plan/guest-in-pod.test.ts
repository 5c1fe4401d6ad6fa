import {
  encodeGrant,
  freeGrant,
  type Grant,
  grantAnnotation,
  type Holder,
} from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { expect, test } from "vitest";
import { clientTarget, type PlanClient } from "./client-target.ts";
import { type GuestInPod, whyPodStays } from "./guest-in-pod.ts";
import { podResource } from "./resources.ts";

const names = namesOf();
const counted = { vmiUID: "vmi-1", epoch: 1, seq: 3 };
const [holder, target] = ["pod-1", "pod-2"].map(
  (podUID): Holder => ({
    ...{ podUID, containerID: `containerd://${podUID}`, node: "n", machineID: "m" },
    ...{ bootID: "b", nonce: podUID },
  }),
) as [Holder, Holder];
const guest: GuestInPod = {
  vmi: { namespace: "default", name: "demo" },
  ...{ uid: "vmi-1", podUID: "pod-1" },
};

function vmiWith(grant: Grant | string, uid = "vmi-1"): object {
  const value = typeof grant === "string" ? grant : encodeGrant(grant);
  return { metadata: { uid, annotations: { [names.own(grantAnnotation)]: value } } };
}

test("the Pod that has a guest, or may start it, can be ended", () => {
  const [claimed, granted] = [
    { state: "Claimed", ...counted, holder } as const,
    { state: "Granted", ...counted, podUID: "pod-1" } as const,
  ];
  for (const grant of [claimed, granted, freeGrant]) {
    expect(whyPodStays(vmiWith(grant), guest, names)).toBeUndefined();
  }
  const other = { ...guest, podUID: "pod-2" };
  expect(whyPodStays(vmiWith(claimed), other, names)).toBe("the guest is in another Pod");
  expect(whyPodStays(vmiWith(granted), other, names)).toBe("another Pod may start the guest");
});

test.each(["HandingOver", "Released", "Committed"] as const)(
  "neither Pod of a handover can be ended: %s",
  (state) => {
    const vmi = vmiWith({ state, ...counted, holder, target, migrationUID: "m-1" });
    for (const podUID of ["pod-1", "pod-2"]) {
      expect(whyPodStays(vmi, { ...guest, podUID }, names)).toBe("a handover is in progress");
    }
  },
);

test("nothing is ended for a VMI that is another one, is gone, or has no valid grant", () => {
  expect(whyPodStays(vmiWith(freeGrant, "vmi-2"), guest, names)).toBe("its VMI is gone");
  expect(whyPodStays(undefined, guest, names)).toBe("its VMI is gone");
  expect(whyPodStays(vmiWith("free"), guest, names)).toMatch(/^the run grant is not valid: /);
});

test.each([
  [{ state: "Claimed", ...counted, holder } as const, ["get", "create"]],
  [{ state: "HandingOver", ...counted, holder, target, migrationUID: "m-1" } as const, ["get"]],
])("a write that ends a Pod is sent only after a live read: %j", async (grant, expected) => {
  const calls: string[] = [];
  const called = (verb: string, answer?: unknown) => async (): Promise<never> => {
    calls.push(verb);
    return answer as never;
  };
  const client: PlanClient = {
    ...{ create: called("create"), delete: called("delete"), patch: called("patch") },
    ...{ get: called("get", vmiWith(grant)), request: called("request") },
  };
  const object = { metadata: { namespace: "default", name: "p" } };
  const write = { kind: "create", resource: podResource, object, guest } as const;
  const refusal = await clientTarget(client, { names })
    .write(write)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(calls).toEqual(expected);
  if (!expected.includes("create")) expect(refusal).toMatchObject({ reason: "Conflict" });
});
