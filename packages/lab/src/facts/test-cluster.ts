import { attachCluster } from "../cluster/attach-cluster.ts";
import type { Cluster } from "../cluster/cluster.ts";

/** The cluster that all tests of the nodes tier share. */
export function testCluster(): Cluster {
  return attachCluster(process.env["VIRTKIT_CLUSTER"] ?? "");
}

/** The image of launcher Pods: has a shell, Node, libvirt, QEMU and our packages. */
export const launcherImageReference = "localhost/virtkit/launcher:test";

/** An image with nothing but the guest's disk. */
export const diskImageReference = "localhost/virtkit/disk:test";

/** A container that runs a shell script; its PID 1 is the shell. */
export function shell(script: string, more: object = {}): object {
  return {
    name: "main",
    image: launcherImageReference,
    imagePullPolicy: "Never",
    command: ["sh", "-c", script],
    ...more,
  };
}

/** A shell script that does nothing, and ends when it is asked to. */
export const idle = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done";
