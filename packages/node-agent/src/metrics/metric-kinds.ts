/** What a metric of a guest is. */
export interface MetricKind {
  readonly type: "counter" | "gauge";
  readonly help: string;
}

const counter = (help: string): MetricKind => ({ type: "counter", help });
const gauge = (help: string): MetricKind => ({ type: "gauge", help });

/** The metrics that a node agent knows, by KubeVirt's names. `deviations.md` lists those that it does not serve. */
export const metricKinds: Readonly<Record<string, MetricKind>> = {
  kubevirt_virt_handler_ready_status: gauge("Whether the node agent is ready"),
  kubevirt_node_deprecated_machine_types: gauge("Machine types that QEMU will soon remove"),
  kubevirt_vmi_cpu_usage_seconds_total: counter("CPU time of the guest and its hypervisor"),
  kubevirt_vmi_cpu_user_usage_seconds_total: counter("CPU time in user mode"),
  kubevirt_vmi_cpu_system_usage_seconds_total: counter("CPU time in system mode"),
  kubevirt_vmi_guest_load_1m: gauge("Load of the guest over one minute"),
  kubevirt_vmi_guest_load_5m: gauge("Load of the guest over five minutes"),
  kubevirt_vmi_guest_load_15m: gauge("Load of the guest over fifteen minutes"),
  kubevirt_vmi_memory_resident_bytes: gauge("Resident memory of the guest's process"),
  kubevirt_vmi_memory_available_bytes: gauge("Memory usable by the guest's operating system"),
  kubevirt_vmi_memory_unused_bytes: gauge("Memory unused by the guest"),
  kubevirt_vmi_memory_cached_bytes: gauge("Memory the guest uses to cache disks"),
  kubevirt_vmi_memory_swap_in_traffic_bytes: gauge("Memory the guest has swapped in"),
  kubevirt_vmi_memory_swap_out_traffic_bytes: gauge("Memory the guest has swapped out"),
  kubevirt_vmi_memory_pgmajfault_total: counter("Page faults of the guest that needed disk I/O"),
  kubevirt_vmi_memory_pgminfault_total: counter("Page faults of the guest that needed no disk I/O"),
  kubevirt_vmi_memory_actual_balloon_bytes: gauge("Memory the balloon leaves to the guest"),
  kubevirt_vmi_memory_usable_bytes: gauge("Memory the guest can free without swapping"),
  kubevirt_vmi_memory_domain_bytes: gauge("Memory of the domain"),
  kubevirt_vmi_vcpu_seconds_total: counter("Time a vCPU has run"),
  kubevirt_vmi_vcpu_wait_seconds_total: counter("Time a vCPU has waited for I/O"),
  kubevirt_vmi_vcpu_delay_seconds_total: counter("Time a vCPU was ready but did not run"),
  kubevirt_vmi_network_traffic_bytes_total: counter(
    "Network traffic of an interface in bytes, by direction",
  ),
  kubevirt_vmi_network_receive_bytes_total: counter("Bytes received by the guest"),
  kubevirt_vmi_network_transmit_bytes_total: counter("Bytes sent by the guest"),
  kubevirt_vmi_network_receive_packets_total: counter("Packets received by the guest"),
  kubevirt_vmi_network_transmit_packets_total: counter("Packets sent by the guest"),
  kubevirt_vmi_network_receive_errors_total: counter("Errors while receiving"),
  kubevirt_vmi_network_transmit_errors_total: counter("Errors while sending"),
  kubevirt_vmi_network_receive_packets_dropped_total: counter("Dropped packets to the guest"),
  kubevirt_vmi_network_transmit_packets_dropped_total: counter("Dropped packets from the guest"),
  kubevirt_vmi_storage_iops_read_total: counter("Reads of a disk"),
  kubevirt_vmi_storage_iops_write_total: counter("Writes to a disk"),
  kubevirt_vmi_storage_read_traffic_bytes_total: counter("Bytes read from a disk"),
  kubevirt_vmi_storage_write_traffic_bytes_total: counter("Bytes written to a disk"),
  kubevirt_vmi_storage_read_times_seconds_total: counter("Time spent on disk reads"),
  kubevirt_vmi_storage_write_times_seconds_total: counter("Time spent on disk writes"),
  kubevirt_vmi_storage_flush_requests_total: counter("Flushes of a disk"),
  kubevirt_vmi_storage_flush_times_seconds_total: counter("Time spent on disk flushes"),
  kubevirt_vmi_filesystem_capacity_bytes: gauge("Size of a file system in the guest"),
  kubevirt_vmi_filesystem_used_bytes: gauge("Used space of a file system in the guest"),
  kubevirt_vmi_node_cpu_affinity: gauge("vCPU to node CPU affinity pairs"),
  kubevirt_vmi_dirty_rate_bytes_per_second: gauge("Memory the guest changes per second"),
  kubevirt_vmi_migration_data_bytes_total: counter("Data to migrate"),
  kubevirt_vmi_migration_data_processed_bytes: gauge("Data migrated so far"),
  kubevirt_vmi_migration_data_remaining_bytes: gauge("Data still to migrate"),
  kubevirt_vmi_migration_dirty_memory_rate_bytes: gauge(
    "Memory the migrating guest changes per second",
  ),
  kubevirt_vmi_migration_memory_transfer_rate_bytes: gauge("Memory migrated per second"),
};
