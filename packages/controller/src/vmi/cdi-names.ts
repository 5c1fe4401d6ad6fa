/** API group, labels and annotations of CDI. CDI is another project: no platform renames them. */
export const cdiNames = {
  group: "cdi.kubevirt.io",
  /** On a claim: CDI adjusts it to what the storage can do. */
  applyStorageProfile: "cdi.kubevirt.io/applyStorageProfile",
  /** On a StorageClass: the default for disks of VMs. */
  defaultForVms: "storageclass.kubevirt.io/is-default-virt-class",
} as const;
