import { clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import { readQuantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Refusal } from "@virtkit/node-agent/errors";
import { firmwareHint } from "./host-firmware.ts";
import type { LocalFacts } from "./local-facts.ts";

/** What local mode does not support of a VMI's processors, memory and firmware. */
export function computeRefusals(vmi: VirtualMachineInstance, facts: LocalFacts): Refusal[] {
  return [
    ...architectureRefusals(vmi, facts),
    ...cpuRefusals(vmi, facts),
    ...memoryRefusals(vmi, facts),
    ...firmwareRefusals(vmi, facts),
    ...securityRefusals(vmi),
  ];
}

function architectureRefusals(
  { spec }: VirtualMachineInstance,
  { architecture, machineTypes }: LocalFacts,
): Refusal[] {
  const refusals: Refusal[] = [];
  const wanted = spec.architecture || architecture;
  if (wanted !== architecture) {
    refusals.push({
      field: "spec.architecture",
      found: `the guest needs ${wanted}, and this host is ${architecture}`,
      instead: `run it on a ${wanted} host, or use a guest for ${architecture}`,
    });
  }
  const type = spec.domain.machine?.type;
  // This QEMU does not know the machine types of another architecture.
  const isKnown = wanted !== architecture || machineTypes.length === 0;
  if (type && !isKnown && !machineTypes.includes(type)) {
    refusals.push({
      field: "spec.domain.machine.type",
      found: `this host's QEMU does not know ${type}`,
      instead: `use ${clusterConfig().machineType(architecture)}, or leave it out`,
    });
  }
  return refusals;
}

function cpuRefusals(vmi: VirtualMachineInstance, facts: LocalFacts): Refusal[] {
  const { cpu } = vmi.spec.domain;
  const wishes: readonly (readonly [wanted: unknown, name: string, found: string])[] = [
    [
      cpu?.dedicatedCpuPlacement,
      "dedicatedCpuPlacement",
      "local mode does not reserve host CPUs for a guest",
    ],
    [cpu?.isolateEmulatorThread, "isolateEmulatorThread", "it needs a dedicated host CPU"],
    [
      cpu?.numa?.guestMappingPassthrough,
      "numa.guestMappingPassthrough",
      "it needs dedicated CPUs and huge pages",
    ],
    [cpu?.realtime, "realtime", "it needs dedicated CPUs and a real-time kernel"],
  ];
  const refusals = wishes
    .filter(([wanted]) => wanted)
    .map(([, name, found]) => ({ field: `spec.domain.cpu.${name}`, found, instead: "remove it" }));
  return [...refusals, ...modelRefusals(cpu?.model, facts), ...countRefusals(vmi, facts)];
}

/** Names for the host's own processor. */
const hostModels = ["host-model", "host-passthrough"];

function modelRefusals(
  model: string | undefined,
  { accel, architecture, cpuModels }: LocalFacts,
): Refusal[] {
  const field = "spec.domain.cpu.model";
  if (accel === "tcg" && model === "host-passthrough") {
    const found = "host-passthrough needs KVM, and this guest would be emulated";
    return [{ field, found, instead: "leave it out, or use a host with KVM (virtkit doctor)" }];
  }
  if (!model || hostModels.includes(model) || architecture !== "amd64") return [];
  if (cpuModels.length === 0 || cpuModels.includes(model)) return [];
  const found = `this host's libvirt does not know ${model}`;
  return [{ field, found, instead: "use another one, such as Nehalem, or leave it out" }];
}

/** Without an IOMMU that remaps interrupts, QEMU has no addresses for more. */
const mostCpus = 255;

/** Slots for hotplugged CPUs count, too; by default there are four times the sockets. */
function countRefusals(vmi: VirtualMachineInstance, { architecture }: LocalFacts): Refusal[] {
  const config = clusterConfig({}, { defaultArchitecture: architecture });
  const { spec } = defaultVirtualMachineInstance(vmi, config, { uuid: () => "" });
  const { cores, sockets, threads, maxSockets } = spec.domain.cpu ?? {};
  const perSocket = (cores || 1) * (threads || 1);
  const now = perSocket * (sockets || 1);
  const most = Math.max(now, perSocket * (maxSockets || 0));
  if (most <= mostCpus) return [];
  return [
    {
      field: "spec.domain.cpu",
      found: `${now} CPUs with room for ${most} are more than the ${mostCpus} that a guest can have`,
      instead: now <= mostCpus ? `set maxSockets: ${sockets || 1}` : "ask for fewer",
    },
  ];
}

function memoryRefusals({ spec }: VirtualMachineInstance, { memoryBytes }: LocalFacts): Refusal[] {
  const { memory, resources } = spec.domain;
  const refusals: Refusal[] = [];
  const wishes = [
    ["spec.domain.memory.guest", memory?.guest],
    ["spec.domain.resources.requests.memory", resources?.requests?.["memory"]],
  ] as const;
  const tooMuch = wishes.find(([, quantity]) => bytesOf(quantity) > memoryBytes);
  if (tooMuch) {
    const [field, quantity] = tooMuch;
    const most = Math.floor(memoryBytes / 2 ** 20);
    refusals.push({
      field,
      found: `${quantity} is more than the ${most} MiB of this host`,
      instead: `ask for less than ${most}Mi`,
    });
  }
  if (memory?.hugepages) {
    refusals.push({
      field: "spec.domain.memory.hugepages",
      found: "local mode does not reserve huge pages for a guest",
      instead: "remove it",
    });
  }
  return refusals;
}

function bytesOf(quantity: unknown): number {
  const parsed = readQuantity(String(quantity ?? ""));
  return typeof parsed === "string" ? 0 : Number(parsed.value());
}

function firmwareRefusals(vmi: VirtualMachineInstance, facts: LocalFacts): Refusal[] {
  const { efi } = vmi.spec.domain.firmware?.bootloader ?? {};
  const field = "spec.domain.firmware.bootloader.efi";
  const refusals: Refusal[] = [];
  if (efi?.persistent) {
    refusals.push({
      field: `${field}.persistent`,
      found: "the guest's firmware variables would need a claim in a cluster",
      instead: "remove it; the variables last until virtkit rm",
    });
  }
  const { boots, secureBoot } = efiBoot(vmi, facts);
  if (boots && !facts.firmware) {
    refusals.push({
      field: secureBoot ? `${field}.secureBoot` : field,
      found: `this host has no EFI firmware ${secureBoot ? "with the keys for secure boot" : "for its guests"}`,
      instead: secureBoot
        ? `set secureBoot: false, or install it (${firmwareHint(facts.architecture)})`
        : `install it (${firmwareHint(facts.architecture)})`,
    });
  }
  return [...refusals, ...kernelRefusals(vmi, facts)];
}

/** How a guest boots with EFI, if it does; on arm64 there is nothing else. */
export function efiBoot(
  { spec }: VirtualMachineInstance,
  { architecture }: Pick<LocalFacts, "architecture">,
): { readonly boots: boolean; readonly secureBoot: boolean } {
  const { efi, bios } = spec.domain.firmware?.bootloader ?? {};
  if (efi) return { boots: true, secureBoot: efi.secureBoot !== false };
  return { boots: architecture === "arm64" && !bios, secureBoot: false };
}

/** An image of local mode holds one file, in `/disk`. */
function kernelRefusals({ spec }: VirtualMachineInstance, { images }: LocalFacts): Refusal[] {
  const container = spec.domain.firmware?.kernelBoot?.container;
  if (!container) return [];
  const field = "spec.domain.firmware.kernelBoot.container";
  const { path, problem } = images[container.image] ?? {};
  if (problem) return [{ field: `${field}.image`, ...problem }];
  const only = `/disk/${path?.slice(path.lastIndexOf("/") + 1)}`;
  return (["kernelPath", "initrdPath"] as const).flatMap((name) => {
    const wanted = container[name];
    if (!wanted || wanted === only) return [];
    return [
      {
        field: `${field}.${name}`,
        found: `local mode's image "${container.image}" has one file, ${only}, not ${wanted}`,
        instead: "boot from a disk with a boot loader, or use a kernel that needs no other file",
      },
    ];
  });
}

function securityRefusals({ spec }: VirtualMachineInstance): Refusal[] {
  const [kind] = Object.keys(spec.domain.launchSecurity ?? {});
  if (!spec.domain.launchSecurity) return [];
  return [
    {
      field: `spec.domain.launchSecurity${kind === undefined ? "" : `.${kind}`}`,
      found: "local mode does not support encrypted memory",
      instead: "remove it",
    },
  ];
}
