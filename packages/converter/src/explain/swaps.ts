/** Fields of which an object has one, with the alternatives. */
const choices: readonly (readonly (readonly [key: string, value: unknown])[])[] = [
  [
    ["disk", { bus: "virtio" }],
    ["cdrom", { bus: "sata" }],
    ["lun", { bus: "scsi" }],
  ],
  [
    ["emptyDisk", { capacity: "1Gi" }],
    ["persistentVolumeClaim", { claimName: "x" }],
    ["dataVolume", { name: "x" }],
    ["containerDisk", { image: "x" }],
    ["cloudInitNoCloud", { userData: "x" }],
    ["cloudInitConfigDrive", { userData: "x" }],
    ["configMap", { name: "x" }],
    ["secret", { secretName: "x" }],
    ["serviceAccount", { serviceAccountName: "x" }],
    ["downwardAPI", {}],
    ["downwardMetrics", {}],
    ["sysprep", { configMap: { name: "x" } }],
    ["hostDisk", { path: "/x", type: "Disk" }],
    ["ephemeral", { persistentVolumeClaim: { claimName: "x" } }],
    ["memoryDump", { claimName: "x" }],
  ],
  [
    ["masquerade", {}],
    ["bridge", {}],
    ["sriov", {}],
    ["passtBinding", {}],
    ["binding", { name: "x" }],
  ],
];

/** Copies of an object as each of the other kinds that it could be. */
export function swaps(holder: unknown, key: string): unknown[] {
  const choice = choices.find((kinds) => kinds.some(([kind]) => kind === key)) ?? [];
  const { [key]: _, ...rest } = Object(holder) as Record<string, unknown>;
  return choice
    .filter(([kind]) => kind !== key)
    .slice(0, 4)
    .map(([kind, value]) => ({ ...rest, [kind]: value }));
}
