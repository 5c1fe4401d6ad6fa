import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { GuestFileSystem } from "@virtkit/domain-manager";
import type { GuestStats } from "./guest-stats.ts";

/** One value of one metric. */
export interface Sample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type Measured = readonly [metric: string, value: number | undefined];

const seconds = (nanoseconds: number | undefined): number | undefined =>
  nanoseconds === undefined ? undefined : nanoseconds / 1e9;
const bytes = (kibibytes: number | undefined): number | undefined =>
  kibibytes === undefined ? undefined : kibibytes * 1024;

/**
 * A guest's statistics as Prometheus samples under KubeVirt's names: only what is known. Each carries the VMI's own
 * labels.
 */
export function guestSamples(
  vmi: VirtualMachineInstance,
  {
    stats = {},
    fileSystems = [],
  }: {
    readonly stats?: GuestStats | undefined;
    readonly fileSystems?: readonly Omit<GuestFileSystem, "disks">[] | undefined;
  },
): Sample[] {
  const common = commonLabels(vmi);
  const samples = (measured: readonly Measured[], labels: Sample["labels"] = {}): Sample[] =>
    measured.flatMap(([metric, value]) =>
      value === undefined
        ? []
        : [{ metric: `kubevirt_vmi_${metric}`, labels: { ...common, ...labels }, value }],
    );
  return [
    ...samples(wholeGuest(stats)),
    ...(stats.vcpus ?? []).flatMap(({ state, time, wait, delay }, index) => {
      const id = { id: String(index) };
      return [
        ...samples([["vcpu_seconds_total", seconds(time)]], { ...id, state: vcpuState(state) }),
        ...samples(
          [
            ["vcpu_wait_seconds_total", seconds(wait)],
            ["vcpu_delay_seconds_total", seconds(delay)],
          ],
          id,
        ),
      ];
    }),
    ...(stats.interfaces ?? []).flatMap(({ name, ...counts }) => [
      ...samples([["network_traffic_bytes_total", counts.rxBytes]], {
        interface: name,
        type: "rx",
      }),
      ...samples([["network_traffic_bytes_total", counts.txBytes]], {
        interface: name,
        type: "tx",
      }),
      ...samples(interfaceCounts(counts), { interface: name }),
    ]),
    ...(stats.disks ?? []).flatMap(({ name, ...counts }) =>
      samples(diskCounts(counts), { drive: name }),
    ),
    ...fileSystems.flatMap(({ diskName, mountPoint, fileSystemType, totalBytes, usedBytes }) =>
      samples(
        [
          ["filesystem_capacity_bytes", totalBytes],
          ["filesystem_used_bytes", usedBytes],
        ],
        { disk_name: diskName, mount_point: mountPoint, file_system_type: fileSystemType },
      ),
    ),
  ];
}

function wholeGuest({
  cpu,
  memory,
  load,
  cpuAffinity,
  dirtyRateMebibytes,
}: GuestStats): Measured[] {
  return [
    ["cpu_usage_seconds_total", seconds(cpu?.time)],
    ["cpu_user_usage_seconds_total", seconds(cpu?.user)],
    ["cpu_system_usage_seconds_total", seconds(cpu?.system)],
    ["guest_load_1m", load?.["1m"]],
    ["guest_load_5m", load?.["5m"]],
    ["guest_load_15m", load?.["15m"]],
    ["memory_resident_bytes", bytes(memory?.resident)],
    ["memory_available_bytes", bytes(memory?.available)],
    ["memory_unused_bytes", bytes(memory?.unused)],
    ["memory_cached_bytes", bytes(memory?.cached)],
    ["memory_swap_in_traffic_bytes", bytes(memory?.swapIn)],
    ["memory_swap_out_traffic_bytes", bytes(memory?.swapOut)],
    ["memory_pgmajfault_total", memory?.majorFaults],
    ["memory_pgminfault_total", memory?.minorFaults],
    ["memory_actual_balloon_bytes", bytes(memory?.balloon)],
    ["memory_usable_bytes", bytes(memory?.usable)],
    ["memory_domain_bytes", bytes(memory?.domain)],
    ["node_cpu_affinity", cpuAffinity],
    ["dirty_rate_bytes_per_second", bytes(bytes(dirtyRateMebibytes))],
  ];
}

function interfaceCounts(
  counts: Omit<NonNullable<GuestStats["interfaces"]>[number], "name">,
): Measured[] {
  return [
    ["network_receive_bytes_total", counts.rxBytes],
    ["network_transmit_bytes_total", counts.txBytes],
    ["network_receive_packets_total", counts.rxPackets],
    ["network_transmit_packets_total", counts.txPackets],
    ["network_receive_errors_total", counts.rxErrors],
    ["network_transmit_errors_total", counts.txErrors],
    ["network_receive_packets_dropped_total", counts.rxDropped],
    ["network_transmit_packets_dropped_total", counts.txDropped],
  ];
}

function diskCounts(counts: Omit<NonNullable<GuestStats["disks"]>[number], "name">): Measured[] {
  return [
    ["storage_iops_read_total", counts.readRequests],
    ["storage_iops_write_total", counts.writeRequests],
    ["storage_read_traffic_bytes_total", counts.readBytes],
    ["storage_write_traffic_bytes_total", counts.writeBytes],
    ["storage_read_times_seconds_total", seconds(counts.readTimes)],
    ["storage_write_times_seconds_total", seconds(counts.writeTimes)],
    ["storage_flush_requests_total", counts.flushRequests],
    ["storage_flush_times_seconds_total", seconds(counts.flushTimes)],
  ];
}

/** libvirt's numbers; a missing one counts as 0, as in KubeVirt. */
function vcpuState(state = 0): string {
  return ["offline", "running", "blocked"][state] ?? "unknown";
}

function commonLabels({ metadata, status }: VirtualMachineInstance): Sample["labels"] {
  const own = Object.entries(metadata?.labels ?? {}).map(([key, value]) => [
    `kubernetes_vmi_label_${key.replaceAll(/[./-]/g, "_")}`,
    value,
  ]);
  return {
    node: status?.nodeName ?? "",
    namespace: metadata?.namespace ?? "",
    name: metadata?.name ?? "",
    ...Object.fromEntries(own),
  };
}
