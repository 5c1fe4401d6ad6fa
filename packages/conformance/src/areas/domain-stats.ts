import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, type JsonObject, object, objects, text } from "@virtkit/api/shape";
import { type GuestStats, guestSamples, metricKinds } from "@virtkit/node-agent/metrics";
import type { BatchFunction } from "../batch/batch-area.ts";
import { guardVmis } from "./guard-vmis.ts";
import { objectField } from "./input-fields.ts";

/** The functions of area `domain-stats`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "domain-metrics": (input) => {
    const vmi = objectField(input, "vmi") as VirtualMachineInstance;
    const fileSystems = objects<FileSystem>(at(input, "filesystems", "items"));
    const stats = statsOf(object(at(input, "domainStats")));
    const samples = guardVmis({ "input.vmi": vmi }, () =>
      guestSamples(vmi, { stats, fileSystems }),
    );
    return {
      samples: samples
        .map((sample) => ({ ...sample, type: typeOf(sample.metric) }))
        .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
    };
  },
};

type FileSystem = NonNullable<Parameters<typeof guestSamples>[1]["fileSystems"]>[number];

function typeOf(metric: string): string {
  return metricKinds[metric]?.type === "counter" ? "Counter" : "Gauge";
}

/** The area sorts them by metric, and then by label. */
function placeOf({ metric, labels }: { metric: string; labels: JsonObject }): string {
  return JSON.stringify([metric, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** The value of a field that KubeVirt says is set. */
function set(fields: JsonObject, name: string): number | undefined {
  return at(fields, `${name}Set`) === true ? Number(at(fields, name) ?? 0) : undefined;
}

function statsOf(stats: JsonObject): GuestStats {
  const [cpu, memory, load] = [
    object(stats["Cpu"]),
    object(stats["Memory"]),
    object(stats["Load"]),
  ];
  const affinity = at(stats, "CPUMap");
  const dirtyRate = set(object(stats["DirtyRate"]), "MegabytesPerSecond");
  return {
    cpu: { time: set(cpu, "Time"), user: set(cpu, "User"), system: set(cpu, "System") },
    memory: {
      resident: set(memory, "RSS"),
      available: set(memory, "Available"),
      unused: set(memory, "Unused"),
      cached: set(memory, "Cached"),
      swapIn: set(memory, "SwapIn"),
      swapOut: set(memory, "SwapOut"),
      majorFaults: set(memory, "MajorFault"),
      minorFaults: set(memory, "MinorFault"),
      balloon: set(memory, "ActualBalloon"),
      usable: set(memory, "Usable"),
      domain: set(memory, "Total"),
    },
    load: { "1m": set(load, "Load1m"), "5m": set(load, "Load5m"), "15m": set(load, "Load15m") },
    vcpus: objects(stats["Vcpu"]).map((vcpu) => ({
      state: Number(at(vcpu, "State") ?? 0),
      time: set(vcpu, "Time"),
      wait: set(vcpu, "Wait"),
      delay: set(vcpu, "Delay"),
    })),
    interfaces: named(stats["Net"]).map((net) => ({
      name: at(net, "AliasSet") === true ? text(net["Alias"]) : text(net["Name"]),
      rxBytes: set(net, "RxBytes"),
      txBytes: set(net, "TxBytes"),
      rxPackets: set(net, "RxPkts"),
      txPackets: set(net, "TxPkts"),
      rxErrors: set(net, "RxErrs"),
      txErrors: set(net, "TxErrs"),
      rxDropped: set(net, "RxDrop"),
      txDropped: set(net, "TxDrop"),
    })),
    disks: named(stats["Block"]).map((block) => ({
      name: text(block["Alias"]) || text(block["Name"]),
      readRequests: set(block, "RdReqs"),
      writeRequests: set(block, "WrReqs"),
      readBytes: set(block, "RdBytes"),
      writeBytes: set(block, "WrBytes"),
      readTimes: set(block, "RdTimes"),
      writeTimes: set(block, "WrTimes"),
      flushRequests: set(block, "FlReqs"),
      flushTimes: set(block, "FlTimes"),
    })),
    ...(at(stats, "CPUMapSet") === true ? { cpuAffinity: pairsIn(affinity) } : {}),
    ...(dirtyRate === undefined ? {} : { dirtyRateMebibytes: dirtyRate }),
  };
}

function named(devices: unknown): readonly JsonObject[] {
  return objects(devices).filter((device) => at(device, "NameSet") === true);
}

function pairsIn(map: unknown): number {
  return Array.isArray(map) ? map.flat().filter(Boolean).length : 0;
}
