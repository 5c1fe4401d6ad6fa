import type { FeatureHyperv, VirtualMachineInstanceSpec } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import {
  hasDedicatedCpus,
  wantsSecureExecution,
  wantsSev,
  wantsSevEs,
  wantsSevSnp,
  wantsTdx,
} from "../guest-traits.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import type { Step } from "../pod-draft.ts";
import { labels, nodeLabels } from "../well-known.ts";

/** What a node must be able to do, by its labels: the cluster's wish, the VMI's wish, the guest's needs. */
export const nodeSelector: Step = (request, { nodeSelector: selector }) => {
  const { spec, config, explain } = request;
  const want = (key: string, from: string, because: string, value = "true"): void => {
    selector[key] = value;
    explain?.(part.selector(key), from, because);
  };
  want(nodeLabels.schedulable, "rule", "the node's agent is well");
  if (spec.architecture) {
    const value = spec.architecture.toLowerCase();
    want(labels.architecture, "vmi.spec.architecture", "the guest's architecture", value);
  }
  for (const [key, value] of Object.entries(config.nodeSelectors)) {
    want(key, "config.developerConfiguration.nodeSelectors", "for all guests", value);
  }
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    want(key, "vmi.spec.nodeSelector", "stated by the VMI", value);
  }
  if (config.gate("CrossArchitectureVirtualization") && spec.architecture) {
    // Any node that can emulate it will do; whoever named an architecture is not heard either.
    delete selector[labels.architecture];
    const key = `${nodeLabels.guestArchitecture}${spec.architecture}`;
    want(key, "vmi.spec.architecture", "the node can run or emulate it");
  }
  selectCpu(request, want);
  selectMachine(request, want);
  selectClock(request, want);
  selectConfidentiality(spec, want);
};

type Want = (key: string, from: string, because: string, value?: string) => void;

function selectCpu({ spec, domain, config }: LauncherRequest, want: Want): void {
  const { cpu, features } = domain;
  if (hasDedicatedCpus(spec)) {
    want(nodeLabels.cpuManager, "vmi.spec.domain.cpu.dedicatedCpuPlacement", "hands out CPUs");
  }
  if (config.gate("HypervStrictCheck") && features?.hyperv) selectHyperv(features.hyperv, want);
  if (cpu?.model) {
    if (cpu.model !== "host-model" && cpu.model !== "host-passthrough") {
      want(`${nodeLabels.cpuModel}${cpu.model}`, "vmi.spec.domain.cpu.model", "the CPU model");
    }
    for (const { name, policy } of cpu.features ?? []) {
      if (policy && policy !== "require") continue;
      want(`${nodeLabels.cpuFeature}${name}`, "vmi.spec.domain.cpu.features", "a required feature");
    }
  }
  if (cpu?.realtime) want(nodeLabels.realtime, "vmi.spec.domain.cpu.realtime", "a realtime guest");
}

/** Enlightenments that need the host's kernel. The others are QEMU's own. */
const hostEnlightenments = [
  "vpindex",
  "runtime",
  "reset",
  "synic",
  "synictimer",
  "frequencies",
  "reenlightenment",
  "tlbflush",
  "ipi",
] as const satisfies readonly (keyof FeatureHyperv)[];

function selectHyperv(hyperv: FeatureHyperv, want: Want): void {
  const from = "vmi.spec.domain.features.hyperv";
  for (const name of hostEnlightenments) {
    if (hyperv[name]?.enabled === true) {
      want(`${nodeLabels.hyperv}${name}`, `${from}.${name}`, "needs the host's kernel");
    }
  }
  if (hyperv.evmcs && hyperv.evmcs.enabled !== false) {
    want(`${nodeLabels.cpuVendor}Intel`, `${from}.evmcs`, "only Intel has it");
  }
}

function selectMachine({ domain, status }: LauncherRequest, want: Want): void {
  const running = status.machine?.type;
  const type = running || domain.machine?.type;
  if (!type) return;
  const from = running ? "vmi.status.machine.type" : "vmi.spec.domain.machine.type";
  want(`${nodeLabels.machineType}${type}`, from, "the machine type");
}

/** A guest whose clock follows the TSC can only run where that frequency can be had. */
function selectClock({ domain, status }: LauncherRequest, want: Want): void {
  const frequency = status.topologyHints?.tscFrequency;
  if (!frequency || frequency <= 0) return;
  const invariant = domain.cpu?.features?.some(
    ({ name, policy }) => name === "invtsc" && (policy === "require" || policy === "force"),
  );
  if (!invariant && domain.features?.hyperv?.reenlightenment?.enabled !== true) return;
  const key = `${nodeLabels.tscFrequency}${frequency}`;
  want(key, "vmi.status.topologyHints.tscFrequency", "the guest's clock depends on it");
}

function selectConfidentiality(spec: VirtualMachineInstanceSpec, want: Want): void {
  const from = "vmi.spec.domain.launchSecurity";
  if (wantsSev(spec)) want(nodeLabels.sev, from, "AMD SEV");
  if (wantsSevEs(spec)) want(nodeLabels.sevEs, from, "AMD SEV-ES");
  if (wantsSevSnp(spec)) want(nodeLabels.sevSnp, from, "AMD SEV-SNP");
  if (wantsSecureExecution(spec)) want(nodeLabels.secureExecution, from, "IBM Secure Execution");
  if (wantsTdx(spec)) want(nodeLabels.tdx, from, "Intel TDX");
}
