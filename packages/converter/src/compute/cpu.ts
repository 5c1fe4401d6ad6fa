import type { CPU } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainCpu, DomainVcpus } from "../model/cpu.ts";
import { type CpuTopology, vcpusOf } from "./cpu-topology.ts";
import { yesNo } from "./switch.ts";

export const cpu: Configurator = {
  name: "cpu",
  summary: "CPU model, flags, topology, and the CPUs that can be plugged in later.",
  configure({ spec, topology, architecture, context, domain }: Draft): void {
    const maxSockets = architecture.hotplugsCpus ? spec.cpu?.maxSockets || 0 : 0;
    const full = maxSockets > 0 ? { ...topology, sockets: maxSockets } : topology;
    if (vcpusOf(full) > maxVcpus) {
      throw invalidVmi(
        "spec.domain.cpu",
        `has ${vcpusOf(full)} CPUs; a guest has at most ${maxVcpus}`,
      );
    }
    setModel(domain.cpu, spec.cpu?.model, context.allowCrossArchEmulation === true);
    domain.cpu.topology = {
      sockets: full.sockets || undefined,
      cores: full.cores || undefined,
      threads: full.threads || undefined,
    };
    if (spec.cpu) addFeatures(domain.cpu, spec.cpu, architecture.disablesMpx);
    domain.vcpu = { placement: "static", count: vcpusOf(full) };
    if (maxSockets > 0) domain.vcpus = pluggableVcpus(topology, vcpusOf(full));
  },
};

/** Far more than any machine type supports; a bound, because each CPU may be listed. */
const maxVcpus = 65_536;

const hostModel = "host-model";
const hostPassthrough = "host-passthrough";

function setModel(target: DomainCpu, model: string | undefined, crossArchitecture: boolean): void {
  if (model && model !== hostModel && model !== hostPassthrough) {
    target.mode = "custom";
    target.model = model;
  } else if (crossArchitecture) {
    // There is no host CPU of that architecture: use everything that QEMU can emulate.
    target.mode = "custom";
    target.model = "max";
  } else {
    target.mode = model || hostModel;
  }
}

function addFeatures(target: DomainCpu, { model, features }: CPU, disablesMpx: boolean): void {
  let mpx = false;
  for (const { name, policy } of features ?? []) {
    mpx ||= name === "mpx";
    target.features.push({ policy: policy || undefined, name: name ?? "" });
  }
  // libvirt refuses a named model if the host lacks one of its flags, and newer hosts lack this one.
  if (disablesMpx && !mpx && model !== hostModel && model !== hostPassthrough) {
    target.features.push({ policy: "disable", name: "mpx" });
  }
}

/** Those of the first socket are always plugged in. */
function pluggableVcpus(topology: CpuTopology, total: number): DomainVcpus {
  const enabled = vcpusOf(topology);
  const fixed = Math.imul(topology.cores, topology.threads) >>> 0;
  const vcpu = [];
  for (let id = 0; id < total; id++) {
    vcpu.push({
      id,
      enabled: yesNo(id < enabled, true),
      hotpluggable: yesNo(id >= fixed, false),
      order: undefined,
    });
  }
  return { vcpu };
}
