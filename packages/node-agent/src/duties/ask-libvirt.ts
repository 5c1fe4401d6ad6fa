import { capabilityDirectory } from "./capability-files.ts";

/**
 * The shell script of an init container that asks its own libvirt what the node can do, and leaves the answers in
 * {@link capabilityDirectory} under KubeVirt's names. Without them, an agent knows neither the node's CPU models
 * nor which one a `host-model` guest gets, and such a guest is not live-migratable. `virsh` starts that libvirt for
 * the duration of the queries, as an ordinary user. If the node's KVM does not work, the script asks what it can
 * emulate; CPU features that it does not report are left out.
 */
export const askLibvirt: string = [
  "set -eu",
  `cd ${capabilityDirectory}`,
  "export HOME=/tmp XDG_RUNTIME_DIR=/tmp XDG_CACHE_HOME=/tmp XDG_CONFIG_HOME=/tmp",
  // The container's own device node: the host's keeps its mode.
  "if [ -e /dev/kvm ]; then chmod 0666 /dev/kvm; fi",
  'ask() { setpriv --reuid 107 --regid 107 --clear-groups virsh -q -c qemu:///session "$@"; }',
  "ask capabilities > capabilities.xml",
  "of='--machine q35 --arch x86_64' type=kvm",
  'can() { ask domcapabilities $of --virttype "$type" > virsh_domcapabilities.xml; }',
  "can || { type=qemu; can; }",
  'ask hypervisor-cpu-baseline --features $of --virttype "$type" virsh_domcapabilities.xml > supported_features.xml || rm -f supported_features.xml',
].join("\n");
