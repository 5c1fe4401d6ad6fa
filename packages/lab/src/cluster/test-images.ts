/** Names of the images that every node of the nodes tier's cluster has. */
export const testImages = {
  /** The image of launcher Pods: a shell, Node, libvirt, QEMU and our packages as they were built. */
  launcher: "localhost/virtkit/launcher:test",
  /** An image with nothing but the disk of the lab's guest. */
  disk: "localhost/virtkit/disk:test",
} as const;
