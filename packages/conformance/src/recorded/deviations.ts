/** Cases that are answered otherwise than KubeVirt answers them, by area, each with the reason. */
export const deviations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dhcp: {
    "reply-long-option-wraps":
      "KubeVirt writes an option of over 255 bytes with a length that wraps, which corrupts the packet.",
    "reply-many-routes-wrap":
      "KubeVirt writes an option of over 255 bytes with a length that wraps, which corrupts the packet.",
  },
  migration: {
    "podevict-descheduler":
      "KubeVirt escapes a key of a JSON object as if it were part of a path; the API server refuses the key.",
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
