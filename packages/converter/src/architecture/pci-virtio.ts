/** Model of a virtio device on PCI: `transitional` ones also serve drivers from before virtio 1.0. */
export function pciVirtioModel(transitional: boolean): string {
  return transitional ? "virtio-transitional" : "virtio-non-transitional";
}
