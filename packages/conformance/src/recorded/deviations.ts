/**
 * The reasons why answers to subresource requests differ. Most are one rule: an error that the request or the state of an
 * object causes is not an internal error. See `deviations.md` of `@virtkit/api`.
 */
export const subresourceReasons = {
  emptyDryRun:
    "KubeVirt crashes on an empty dryRun list; here it means that the request is not a dry run.",
  noProfiler: "This server has no profiler, and denies access to what it does not serve.",
  foreignGroup:
    "KubeVirt checks access in whatever group the path names; here only our own group is served.",
  noNameGiven:
    "virtctl sends no name, and KubeVirt then always fails; here no name means the node that the VMI leaves.",
  refusedStop:
    "KubeVirt changes the grace period of the VMI and then refuses to stop it; here a refusal changes nothing.",
  plainGet:
    "KubeVirt opens a stream on the node before it notices that the client did not ask for one.",
  plainText: "KubeVirt answers with plain text instead of a Status, and clients cannot parse it.",
  nodeCode:
    "KubeVirt turns every refusal of the node into a 500; here the node's 400, 404 and 409 are passed on.",
  invalidWrite:
    "KubeVirt answers 500 if the API server rejects the object; here its 422 is passed on.",
  noAgent:
    "If a node has no agent, KubeVirt answers 400 to verbs that write and 500 to verbs that read; here both get 400.",
  clientFault:
    "KubeVirt answers 500, although the request or the state of the object causes the error.",
} as const;

/** Cases that are answered differently from KubeVirt, by area, each with the reason. */
export const deviations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dhcp: {
    "reply-long-option-wraps":
      "The length of an option over 255 bytes wraps in KubeVirt, which corrupts the packet; here the option is split.",
    "reply-many-routes-wrap":
      "The length of an option over 255 bytes wraps in KubeVirt, which corrupts the packet; here the option is split.",
  },
  handler: {
    "update-sriov-adjust-fails":
      "KubeVirt uses the text of an error as the reason of an event, which the API server may refuse.",
  },
  "guest-agent": {
    "freeze-error":
      "The agent's protocol has only the states frozen and thawed; KubeVirt accepts any word as a state.",
    "freeze-quote-inside":
      "The agent's protocol has only the states frozen and thawed; KubeVirt accepts any word as a state.",
    "freeze-spaces":
      "JSON allows spaces before a colon; KubeVirt's regular expression does not match them.",
    "freeze-with-id":
      "A second field in a reply is ignored; KubeVirt's regular expression does not match such a reply.",
    "info-id-first":
      "A second field in a reply is ignored; KubeVirt's regular expression does not match, and KubeVirt crashes.",
  },
  "handler-migration": {
    "src-ended-60s-ago-target-unseen":
      "KubeVirt also asks for another pass in the second in which it gives up.",
    "src-interfaces-refreshed":
      "The pass that reports the guest updates the interfaces in the status; the migration's pass does not.",
    "src-start-no-target-node":
      "KubeVirt starts the migration and declares the VMI failed in the same pass; here nothing is started without a target.",
    "tgt-abort-not-decentralized-launcher-gone":
      "KubeVirt looks for the launcher, although there is nothing to send to it.",
    "tgt-final-no-migration-state":
      "KubeVirt crashes on a VMI that has ended and was never migrated; here nothing is done.",
  },
  migration: {
    "podevict-descheduler":
      "KubeVirt escapes the key of a JSON object as if it were part of a JSON pointer; the API server refuses that key.",
  },
  "migration-controller": {
    "backend-rwo-creates-target-pvc":
      "A claim whose name the API server generates is recorded once it is seen. In a cluster, the name is derived from the migration and recorded at once.",
    "create-host-model-no-label":
      "KubeVirt loses the error, and lets a guest with CPU model host-model move to a node with any CPU.",
    "final-failed-state-of-other":
      "KubeVirt tries to mark a failed migration on a VMI whose state belongs to another migration, and fails in every pass.",
    "stale-target-gone-abort":
      "A target Pod that should be deleted and is already gone counts as deleted; KubeVirt reports a failure.",
  },
  "network-wiring": {
    "masq-started": "An interrupted wiring is finished from its journal; KubeVirt fails the VMI.",
    "one-started-one-pending":
      "An interrupted wiring is finished from its journal; KubeVirt fails the VMI.",
  },
  pool: {
    "autoheal-foreign-vm":
      "KubeVirt heals all VMs of the namespace, and so deletes VMs that do not belong to the pool.",
    "detached-vm-released":
      "KubeVirt cannot release a VM that has another finalizer, because its patch is not JSON.",
    "finalizer-added-other-present":
      "KubeVirt drops all other finalizers of the pool when it adds its own.",
    "scale-in-selector":
      "KubeVirt crashes if the selectors match too few VMs; here those are deleted, and the rest is reported.",
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
      "The status is written before the VM's finalizer is removed; KubeVirt writes it afterwards, when the VM may be gone, and fails.",
    "run-halted-start-request-paused":
      "When a start request changes a halted VM to Always, KubeVirt reports a failure, although nothing failed.",
    "stale-vmi-gone-stop":
      "A VMI that should be deleted and is already gone counts as deleted; KubeVirt reports a failure.",
  },
  "vmi-controller": {
    "hotplug-wffc-trigger-exists":
      "KubeVirt reports a temporary Pod as deleted, although it left the Pod alone because it is pending.",
    "wffc-done-temp-pod-pending":
      "KubeVirt reports a temporary Pod as deleted, although it left the Pod alone because it is pending.",
    "pod-status-patch-refused":
      "Labels and annotations of a Pod are one write, before its condition; KubeVirt writes some labels after it.",
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
