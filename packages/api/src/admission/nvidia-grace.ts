import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote, required } from "./cause.ts";

/**
 * NVIDIA Grace GPUs are passed through with their memory, which needs a VMI like the host: arm64, `virt`,
 * dedicated CPUs, PCI devices on their NUMA nodes, IOMMUFD.
 */
export function graceDevices(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const { grace, ambiguous } = nvidiaDevices(spec, at, config);
  if (grace.length + ambiguous.length === 0) return fine;
  if (!config.gate("GraceIOVirtualization")) {
    return each(grace, ({ field, name }) =>
      invalid(
        field,
        `is ${quote(name)}, an NVIDIA Grace GPU, which needs the feature gate GraceIOVirtualization; turn it on`,
      ),
    );
  }
  return join(
    each(ambiguous, ({ field, name }) =>
      invalid(
        field,
        `is ${quote(name)}, which this cluster selects by NVIDIA's vendor id and any device; give its pciVendorSelector a device id`,
      ),
    ),
    grace.length > 0 ? graceMachine(spec, at, config) : fine,
  );
}

/** Annotations that would break the address space that such a GPU needs. */
export function graceAnnotations(
  spec: VirtualMachineInstanceSpec,
  metadata: { readonly annotations?: Readonly<Record<string, string>> } | undefined,
  { at, config }: { at: string; config: ClusterConfig },
): readonly Cause[] {
  const annotations = metadata?.annotations;
  const names = config.names.annotations;
  if (!annotations || nvidiaDevices(spec, "", config).grace.length === 0) return fine;
  return [names.placePciDevicesOnRootComplex, names.disablePciHole64]
    .filter((key) => annotations[key] === "true")
    .flatMap((key) =>
      invalid(`${at}.annotations[${key}]`, "is not possible with an NVIDIA Grace GPU; remove it"),
    );
}

/** Aliases of the NVIDIA Grace GPUs among a VMI's assigned devices; none if the feature gate is off. */
export function graceHostDeviceAliases(
  { domain }: VirtualMachineInstanceSpec,
  config: ClusterConfig,
): readonly string[] {
  if (!config.gate("GraceIOVirtualization")) return [];
  const selectors = permittedSelectors(config);
  const isGrace = ({ deviceName = "" }: { readonly deviceName?: string }): boolean =>
    graceSelectors.has(selectors.get(deviceName) ?? "");
  return [
    ...(domain.devices.gpus ?? []).filter(isGrace).map(({ name }) => `gpu-${name}`),
    ...(domain.devices.hostDevices ?? []).filter(isGrace).map(({ name }) => `hostdevice-${name}`),
  ].sort();
}

function graceMachine(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const architecture = spec.architecture || config.defaultArchitecture;
  const machine = spec.domain.machine?.type || config.machineType(architecture);
  const why = "because an NVIDIA Grace GPU is used";
  return join(
    architecture === "arm64"
      ? fine
      : invalid(`${at}.architecture`, `is ${quote(architecture)}; it must be arm64, ${why}`),
    machine.startsWith("virt")
      ? fine
      : invalid(`${at}.domain.machine.type`, `is ${quote(machine)}; it must be virt, ${why}`),
    spec.domain.cpu?.dedicatedCpuPlacement
      ? fine
      : required(`${at}.domain.cpu.dedicatedCpuPlacement`, `must be true, ${why}`),
    (["PCINUMAAwareTopology", "IOMMUFD"] as const).flatMap((gate) =>
      config.gate(gate)
        ? fine
        : invalid(`${at}.domain.devices`, `needs the feature gate ${gate}, ${why}; turn it on`),
    ),
  );
}

interface Found {
  readonly field: string;
  readonly name: string;
}

function nvidiaDevices(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): { grace: readonly Found[]; ambiguous: readonly Found[] } {
  const selectors = permittedSelectors(config);
  if (selectors.size === 0) return { grace: [], ambiguous: [] };
  const found = (["gpus", "hostDevices"] as const).flatMap((list) =>
    (spec.domain.devices[list] ?? []).map(({ deviceName: name = "" }, i) => ({
      field: `${at}.domain.devices.${list}[${i}].deviceName`,
      name,
      selector: selectors.get(name) ?? "",
    })),
  );
  return {
    grace: found.filter(({ selector }) => graceSelectors.has(selector)),
    ambiguous: found.filter(({ selector }) => selector === nvidiaAny),
  };
}

const nvidiaAny = "10DE:*";
const graceSelectors: ReadonlySet<string> = new Set(["10DE:2342", "10DE:2348", "10DE:2941"]);

/** PCI selectors of the cluster by resource name, in upper case and without `0x`. */
function permittedSelectors(config: ClusterConfig): ReadonlyMap<string, string> {
  const permitted = config.permittedHostDevices?.pciHostDevices ?? [];
  return new Map(
    permitted
      .filter(({ resourceName, pciVendorSelector }) => resourceName && pciVendorSelector)
      .map(({ resourceName, pciVendorSelector }) => [resourceName, normalised(pciVendorSelector)]),
  );
}

function normalised(selector: string): string {
  return selector
    .split(":")
    .map((id) => id.trim().toUpperCase().replace(/^0X/, ""))
    .join(":");
}
