/**
 * What a request or the state of an object is the reason for is not an internal error; see `deviations.md` of
 * `@virtkit/api`.
 */
export const subresourceReasons = {
  emptyDryRun: "KubeVirt crashes on an empty list dryRun; here it means that nothing is dry.",
  noProfiler: "This server has no profiler; what it does not serve is denied.",
  foreignGroup:
    "KubeVirt asks for leave in whatever group the path names; here only our own group is served.",
  noNameGiven:
    "virtctl gives no name, and KubeVirt then always fails; here no name means the node that the VMI leaves.",
  refusedStop:
    "KubeVirt changes the grace period of the VMI and then refuses to stop it; here a refusal changes nothing.",
  plainGet: "KubeVirt opens a stream on the node before it sees that the client wants none.",
  plainText: "KubeVirt answers with a text that is not a Status, which clients cannot read.",
  nodeCode:
    "KubeVirt makes 500 of every refusal of the node; here a node's 400, 404 and 409 are passed on.",
  invalidWrite:
    "KubeVirt answers 500 where the API server does not take the object; here its 422 is passed on.",
  noAgent:
    "Where a node has no agent KubeVirt answers 400 to verbs that write and 500 to those that read; here both get 400.",
  clientFault: "KubeVirt answers 500 though the request or the state of the object is the reason.",
} as const;

/** Cases that are answered otherwise than KubeVirt answers them, by area, each with the reason. */
export const deviations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dhcp: {
    "reply-long-option-wraps":
      "KubeVirt writes an option of over 255 bytes with a length that wraps, which corrupts the packet.",
    "reply-many-routes-wrap":
      "KubeVirt writes an option of over 255 bytes with a length that wraps, which corrupts the packet.",
  },
  handler: {
    "memory-unit-letter-kib":
      "KubeVirt writes an empty memory status for a unit that libvirt does not have; here nothing is known anew.",
    "memory-unit-none":
      "KubeVirt writes an empty memory status for a unit that libvirt does not have; here nothing is known anew.",
    "update-sriov-adjust-fails":
      "KubeVirt writes an error's text where an event has its reason; the API server may refuse it.",
  },
  "guest-agent": {
    "freeze-error":
      "The agent's protocol has the states frozen and thawed; KubeVirt takes any word for a state.",
    "freeze-quote-inside":
      "The agent's protocol has the states frozen and thawed; KubeVirt takes any word for a state.",
    "freeze-spaces": "Blanks before a colon are JSON; KubeVirt's regular expression fails at them.",
    "freeze-with-id":
      "A second field of a reply is passed over; KubeVirt's regular expression fails at it.",
    "info-id-first":
      "A second field of a reply is passed over; KubeVirt's regular expression crashes at it.",
  },
  "handler-migration": {
    "src-ended-60s-ago-target-unseen":
      "In the very second in which it gives up, KubeVirt also asks for another pass.",
    "src-interfaces-refreshed":
      "The interfaces in the status are those of the pass that reports the guest, not of the migration's.",
    "src-start-no-target-node":
      "KubeVirt starts the migration and in the same pass declares the VMI failed; without a target nothing is started.",
    "tgt-abort-not-decentralized-launcher-gone":
      "KubeVirt asks for the launcher though there is nothing to tell it.",
    "tgt-final-no-migration-state":
      "KubeVirt crashes over a VMI that has ended and was never migrated; there is nothing to do about it.",
  },
  migration: {
    "podevict-descheduler":
      "KubeVirt escapes a key of a JSON object as if it were part of a path; the API server refuses the key.",
  },
  "migration-controller": {
    "backend-rwo-creates-target-pvc":
      "A claim whose name the API server draws is noted once it is seen. In a cluster the name follows from the migration, and is noted at once.",
    "create-host-model-no-label":
      "KubeVirt loses the error and lets a guest with the host's CPU model go to a node with any CPU.",
    "final-failed-state-of-other":
      "KubeVirt marks a failed migration on a VMI whose state is another migration's, which is refused in every pass.",
    "stale-target-gone-abort":
      "A target Pod that is to be deleted and is gone counts as deleted; KubeVirt reports a failure.",
  },
  "network-wiring": {
    "masq-started": "An interrupted wiring is finished from its journal; KubeVirt fails the VMI.",
    "one-started-one-pending":
      "An interrupted wiring is finished from its journal; KubeVirt fails the VMI.",
  },
  pool: {
    "autoheal-foreign-vm":
      "KubeVirt heals all VMs of the namespace, and so deletes VMs that are not the pool's.",
    "detached-vm-released":
      "KubeVirt cannot release a VM that has another finalizer: its patch is not JSON.",
    "finalizer-added-other-present":
      "KubeVirt drops all other finalizers of the pool when it adds its own.",
    "scale-in-selector":
      "KubeVirt crashes where the selectors allow fewer VMs to go than are too many; here those go and the rest is told.",
  },
  subresources: listed({
    emptyDryRun: ["addvolume-vm-dry-run-empty-list", "removevolume-vm-dry-run-empty-list"],
    noProfiler: [
      "authorize-open-apis-subresources-kubevirt-io-v1-start-cluster-profiler",
      "authorize-open-dump-profiler",
      "authorize-open-start-profiler",
      "authorize-open-stop-profiler",
    ],
    foreignGroup: ["authorize-other-group-taken-from-path"],
    noNameGiven: ["evacuate-cancel-vm-no-body", "evacuate-cancel-vmi-no-name-given"],
    refusedStop: ["stop-halted-vmigrace0-asked0"],
    plainGet: ["vsock-plain-get"],
    plainText: [
      "filesystemlist-handler-garbage",
      "guestosinfo-handler-500",
      "guestosinfo-handler-garbage",
      "sev-fetchcertchain-handler-500",
      "sev-querylaunchmeasurement-handler-500",
    ],
    nodeCode: [
      "backup-handler-answers-404",
      "freeze-handler-answers-409",
      "pause-handler-answers-404",
      "pause-handler-answers-409",
      "redefine-checkpoint-handler-answers-404",
      "redefine-checkpoint-handler-answers-409",
      "reset-handler-answers-404",
      "softreboot-handler-answers-404",
      "softreboot-handler-answers-409",
      "unfreeze-handler-answers-404",
      "unfreeze-handler-answers-409",
      "unpause-handler-answers-409",
      "userlist-handler-404",
    ],
    invalidWrite: ["restart-force-patch-invalid", "start-patch-invalid", "stop-patch-invalid"],
    noAgent: [
      "filesystemlist-no-handler-pod",
      "guestosinfo-no-handler-pod",
      "userlist-no-handler-pod",
    ],
    clientFault: [
      "evacuate-cancel-vm-foreign-vmi",
      "evacuate-cancel-vm-other-name-given",
      "expand-spec-vm-conflict",
      "filesystemlist-no-agent",
      "filesystemlist-no-vmi",
      "filesystemlist-phase-pending",
      "guestosinfo-no-agent",
      "guestosinfo-no-vmi",
      "guestosinfo-phase-pending",
      "guestosinfo-phase-scheduled",
      "portforward-vm-bad-port",
      "portforward-vm-bad-protocol",
      "portforward-vm-foreign-vmi",
      "portforward-vmi-bad-port",
      "portforward-vmi-bad-protocol",
      "restart-force-patch-testfailed",
      "screenshot-graphics-off",
      "screenshot-no-vmi",
      "screenshot-phase-failed",
      "screenshot-phase-scheduled",
      "sev-fetchcertchain-no-launch-security",
      "sev-fetchcertchain-no-vmi",
      "sev-fetchcertchain-phase-failed",
      "sev-fetchcertchain-phase-pending",
      "sev-querylaunchmeasurement-no-attestation",
      "sev-querylaunchmeasurement-no-vmi",
      "sev-querylaunchmeasurement-not-paused",
      "sev-querylaunchmeasurement-phase-failed",
      "sev-querylaunchmeasurement-phase-scheduled",
      "userlist-no-agent",
      "userlist-no-vmi",
      "userlist-phase-scheduled",
    ],
  }),
  "vm-controller": {
    "delete-finalizer-patch-refused":
      "The status is written before the VM's finalizer goes, because afterwards there may be no VM: KubeVirt writes it later, and fails.",
    "run-halted-start-request-paused":
      "KubeVirt reports a failure, though nothing failed, when a start request makes a halted VM Always.",
    "stale-vmi-gone-stop":
      "A VMI that is to be deleted and is gone counts as deleted; KubeVirt reports a failure.",
  },
  "vmi-controller": {
    "hotplug-wffc-trigger-exists":
      "KubeVirt reports a temporary Pod as deleted that it has left alone, because it is pending.",
    "wffc-done-temp-pod-pending":
      "KubeVirt reports a temporary Pod as deleted that it has left alone, because it is pending.",
    "pod-status-patch-refused":
      "Labels and annotations of a Pod are one write, before its condition; in KubeVirt some come after it.",
  },
};

function listed(
  cases: Readonly<Record<keyof typeof subresourceReasons, readonly string[]>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(cases).flatMap(([reason, names]) =>
      names.map((name) => [name, subresourceReasons[reason as keyof typeof subresourceReasons]]),
    ),
  );
}
