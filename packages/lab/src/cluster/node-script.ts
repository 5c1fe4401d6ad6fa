import type { NodeLayout } from "./cluster-layout.ts";
import { nodeOwn, nodePrograms } from "./node-config.ts";
import { supervisorScript } from "./supervisor-script.ts";

/** Files of /etc that programs of a node read. */
const hostConfiguration = [
  ...["passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"],
  ...["alternatives", "ssl", "protocols", "services", "login.defs"],
];

/**
 * The values that the kubelet wants, and otherwise sets for the whole host. A node reads them from
 * its own files, so that the kubelet finds what it wants and changes nothing.
 */
const kernelSettings = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};

/**
 * The directory that is shared by all nodes of a cluster: a file server, as far as Pods can tell.
 */
export const sharedDirectory = "/var/lib/shared";

/** The directories of a node that outlive its processes, as a disk outlives a power cut. */
export const nodeDisks: readonly string[] = ["kubelet", "containerd", "cni"];

/** What a node shows of this host besides its own files. */
export interface NodeView {
  /** The programs of Kubernetes. */
  readonly programs: string;
  /** What is the {@link sharedDirectory} of every node. */
  readonly shared: string;
  /** Directories that the node sees read-only at the same paths. */
  readonly directories: readonly string[];
}

/**
 * The script of a node's first process, in its own namespaces: builds a root with all paths of a
 * node, changes to it, and supervises the node's programs. The host's directories are not visible,
 * except for a read-only /usr, /dev, and those that the view names.
 */
export function nodeScript(node: NodeLayout, { programs, shared, directories }: NodeView): string {
  const { name, directory, address, cgroup } = node;
  const settings = Object.entries(kernelSettings).map(([path, value]) => {
    const file = `run/.setting-${path.replaceAll("/", "-")}`;
    // Not every kernel has each of them.
    return `[ ! -e proc/sys/${path} ] || { echo ${value} > ${file}; mount --bind ${file} proc/sys/${path}; }`;
  });
  const shown = directories.map(
    (path) =>
      `mkdir -p .'${path}'; mount --bind '${path}' .'${path}'; mount -o remount,ro,bind .'${path}'`,
  );
  return `set -e
hostname ${name}
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
  [ ! -d $hierarchy/${cgroup} ] || echo 0 > $hierarchy/${cgroup}/system/cgroup.procs
done
# A root in memory, with the host's programs, and as much of its configuration as they read.
root='${directory}/root'; mkdir -p "$root"
mount -t tmpfs -o mode=755 node "$root"; cd "$root"
mkdir -p usr etc/cni/net.d proc sys dev run tmp root old opt var/lib var/log var/cache var/tmp .${nodePrograms} .${nodeOwn}
chmod 1777 tmp var/tmp; ln -s /run var/run
for name in bin sbin lib lib32 lib64 libx32; do [ ! -L /$name ] || cp -a /$name $name; done
mount --bind /usr usr; mount -o remount,ro,bind usr
for name in ${hostConfiguration.join(" ")}; do [ ! -e /etc/$name ] || cp -a /etc/$name etc/; done
printf '127.0.0.1 localhost\\n${address} ${name}\\n' > etc/hosts; : > etc/resolv.conf
# The node's own view of the kernel: processes, settings, boot and machine.
mount -t proc proc proc; mount -t sysfs sysfs sys; mount --rbind /sys/fs/cgroup sys/fs/cgroup; mount --rbind /dev dev
${settings.join("\n")}
tr -d '\\n' < /proc/sys/kernel/random/uuid > run/.boot-id; mount --bind run/.boot-id proc/sys/kernel/random/boot_id
[ -s '${directory}/machine-id' ] || tr -d '\\n-' < /proc/sys/kernel/random/uuid > '${directory}/machine-id'
cp '${directory}/machine-id' etc/machine-id; cp '${directory}/cni.conflist' etc/cni/net.d/10-pods.conflist
# What stays when the node is off: its disks, and the files that it is set up by.
mount --bind '${programs}' .${nodePrograms}; mount -o remount,ro,bind .${nodePrograms}
mount --bind '${directory}' .${nodeOwn}
for name in ${nodeDisks.join(" ")}; do mkdir -p var/lib/$name; mount --bind '${directory}/'$name var/lib/$name; done
mount --bind '${directory}/log' var/log
mkdir -p .${sharedDirectory}; mount --bind '${shared}' .${sharedDirectory}
${shown.join("\n")}
ip link set lo up
# Nothing of the host is seen any more, and mounts of Pods are seen by whoever asks for that.
pivot_root . old; cd /; umount -l old; rmdir old; mount --make-rshared /
set +e
${supervisorScript(`${nodeOwn}/programs`, "/var/log")}`;
}
