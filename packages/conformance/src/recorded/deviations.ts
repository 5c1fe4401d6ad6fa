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
  "vmi-controller": {
    "hotplug-wffc-trigger-exists":
      "KubeVirt reports a temporary Pod as deleted that it has left alone, because it is pending.",
    "wffc-done-temp-pod-pending":
      "KubeVirt reports a temporary Pod as deleted that it has left alone, because it is pending.",
    "pod-status-patch-refused":
      "Labels and annotations of a Pod are one write, before its condition; in KubeVirt some come after it.",
  },
};
