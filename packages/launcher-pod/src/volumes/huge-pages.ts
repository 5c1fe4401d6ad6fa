import { part } from "../explain.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/** The file system for guest memory in hugepages, with a directory that QEMU may write to. */
export const hugePages: Step = ({ domain, explain }, { volumes, mounts }) => {
  if (!domain.memory?.hugepages) return;
  volumes.push(
    { name: "hugepages", emptyDir: { medium: "HugePages" } },
    // Without the second "e", as every launcher Pod has had it.
    emptyDirectory("hugetblfs-dir"),
  );
  mounts.push(
    { name: "hugepages", mountPath: "/dev/hugepages" },
    { name: "hugetblfs-dir", mountPath: "/dev/hugepages/libvirt/qemu" },
  );
  for (const name of ["hugepages", "hugetblfs-dir"]) {
    explain?.(part.volume(name), "vmi.spec.domain.memory.hugepages", "guest memory in hugepages");
  }
};
