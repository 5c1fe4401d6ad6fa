import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Refusal } from "@virtkit/node-agent/errors";
import { programHints } from "./host-programs.ts";
import type { LocalFacts } from "./local-facts.ts";

const devicesField = "spec.domain.devices";

/** What local mode does not support of a VMI's devices and networks. */
export function deviceRefusals(vmi: VirtualMachineInstance, facts: LocalFacts): Refusal[] {
  return [
    ...hostDeviceRefusals(vmi),
    ...tpmRefusals(vmi, facts),
    ...connectionRefusals(vmi),
    ...diskRefusals(vmi),
    ...networkRefusals(vmi),
    ...sidecarRefusals(vmi),
  ];
}

function hostDeviceRefusals({ spec }: VirtualMachineInstance): Refusal[] {
  const { gpus, hostDevices } = spec.domain.devices;
  const refusal = (field: string, name: string | undefined): Refusal => ({
    field,
    found: `"${name}" is a device of a node, and local mode does not pass host devices to a guest`,
    instead: "remove it",
  });
  return [
    ...(gpus ?? []).map(({ name }, at) => refusal(`${devicesField}.gpus[${at}]`, name)),
    ...(hostDevices ?? []).map(({ name }, at) =>
      refusal(`${devicesField}.hostDevices[${at}]`, name),
    ),
    ...(spec.resourceClaims ?? []).map(({ name }, at) => ({
      field: `spec.resourceClaims[${at}]`,
      found: `"${name}" is a claim for a device, which exists only in a cluster`,
      instead: "remove it",
    })),
  ];
}

function tpmRefusals({ spec }: VirtualMachineInstance, { swtpm }: LocalFacts): Refusal[] {
  const { tpm } = spec.domain.devices;
  if (!tpm || tpm.enabled === false) return [];
  const field = `${devicesField}.tpm`;
  const refusals: Refusal[] = [];
  if (tpm.persistent) {
    refusals.push({
      field: `${field}.persistent`,
      found: "the TPM's state would need a claim in a cluster",
      instead: "remove it; the TPM then lasts as long as the guest",
    });
  }
  if (swtpm.state !== "ok") {
    refusals.push({
      field,
      found: `it needs swtpm: ${swtpm.found}`,
      instead: `install it (${programHints.swtpm}), or remove the TPM`,
    });
  }
  return refusals;
}

/** Guest interfaces that lead to nothing in local mode. */
function connectionRefusals({ spec }: VirtualMachineInstance): Refusal[] {
  const { autoattachVSOCK, filesystems } = spec.domain.devices;
  const refusals = (filesystems ?? []).map(
    ({ name }, at): Refusal => ({
      field: `${devicesField}.filesystems[${at}]`,
      found: `"${name}" needs a virtiofs container beside the launcher, which local mode does not run`,
      instead: "make the volume a disk",
    }),
  );
  if (autoattachVSOCK) {
    refusals.push({
      field: `${devicesField}.autoattachVSOCK`,
      found: "local mode does not assign VSOCK addresses",
      instead: "remove it, and reach the guest over its network: --publish PORT:PORT",
    });
  }
  return refusals;
}

/**
 * Every virtio disk and every card takes a PCI slot, and at least four are reserved for cards.
 * Measured: libvirt 9 finds places for 224 disks beside them and not for 228; the rest is for other
 * devices.
 */
const mostSlots = 220;
const cardSlots = 4;

function diskRefusals({ spec }: VirtualMachineInstance): Refusal[] {
  const { disks, interfaces } = spec.domain.devices;
  const onVirtio = (disks ?? []).filter(({ disk }) => disk && (disk.bus ?? "virtio") === "virtio");
  const count = onVirtio.length + Math.max(cardSlots, (interfaces ?? []).length);
  const luns = (disks ?? []).flatMap(({ lun }, at) => {
    if (!lun) return [];
    return [
      {
        field: `${devicesField}.disks[${at}].lun`,
        found: "it needs a SCSI device of the host",
        instead: "use disk: {bus: scsi}",
      },
    ];
  });
  if (count <= mostSlots) return luns;
  const found = `${count} disks and network cards on virtio need more PCI slots than the ${mostSlots} that a guest has`;
  return [...luns, { field: `${devicesField}.disks`, found, instead: "use disk: {bus: scsi}" }];
}

const bindings = ["sriov", "macvtap", "passt", "passtBinding", "slirp", "binding"] as const;

function networkRefusals({ spec }: VirtualMachineInstance): Refusal[] {
  const networks = (spec.networks ?? []).flatMap(({ multus, resourceClaim }, at): Refusal[] => {
    const field = `spec.networks[${at}]`;
    const instead = "use the Pod's network, pod: {}, and one network only";
    if (multus) {
      const found = `the network "${multus.networkName}" needs Multus, which exists only in a cluster`;
      return [{ field: `${field}.multus`, found, instead }];
    }
    if (!resourceClaim) return [];
    return [
      {
        field: `${field}.resourceClaim`,
        found: "it is a claim, which exists only in a cluster",
        instead,
      },
    ];
  });
  const interfaces = (spec.domain.devices.interfaces ?? []).flatMap((one, at): Refusal[] => {
    const kind = bindings.find((name) => one[name]);
    if (!kind) return [];
    const field = `${devicesField}.interfaces[${at}].${kind}`;
    const found = "local mode does not support this network binding";
    return [{ field, found, instead: "use masquerade: {} or bridge: {}" }];
  });
  return [...networks, ...interfaces];
}

function sidecarRefusals({ metadata }: VirtualMachineInstance): Refusal[] {
  const { hookSidecars } = names().annotations;
  if (metadata?.annotations?.[hookSidecars] === undefined) return [];
  return [
    {
      field: `metadata.annotations[${hookSidecars}]`,
      found: "hooks are containers beside the launcher, which local mode does not run",
      instead: "remove it",
    },
  ];
}
