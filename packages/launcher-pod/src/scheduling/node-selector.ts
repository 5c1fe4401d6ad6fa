import type { Names } from "@virtkit/api/names";
import type { FeatureHyperv } from "@virtkit/api/schema";
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
import { foreignNames } from "../well-known.ts";

/** What a node must support, by its labels: the cluster's selector, the VMI's selector, the guest's needs. */
export const nodeSelector: Step = (request, { nodeSelector: selector }) => {
  const { spec, config, names, explain } = request;
  const { nodeLabels } = names;
  const want = (key: string, from: string, because: string, value = "true"): void => {
    selector[key] = value;
    explain?.(part.selector(key), from, because);
  };
  want(nodeLabels.schedulable, "rule", "the node's agent is healthy");
  selectArchitecture(request, want);
  for (const key of Object.keys(config.nodeSelectors)) {
    const from = "config.developerConfiguration.nodeSelectors";
    if (isHeard(key, request)) want(key, from, "for all guests", config.nodeSelectors[key]);
  }
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    if (!isHeard(key, request)) continue;
    want(key, "vmi.spec.nodeSelector", "set by the VMI", spec.nodeSelector?.[key]);
  }
  selectCpu(request, want);
  selectMachine(request, want);
  selectClock(request, want);
  selectConfidentiality(request, want);
};

type Want = (key: string, from: string, because: string, value?: string) => void;

function selectArchitecture(request: LauncherRequest, want: Want): void {
  const { architecture } = request.spec;
  const from = "vmi.spec.architecture";
  if (!architecture) return;
  if (mayEmulate(request)) {
    const key = `${request.names.nodeLabels.vmArchitecture}${architecture}`;
    want(key, from, "the node can run or emulate it");
  } else {
    const value = architecture.toLowerCase();
    want(foreignNames.architecture, from, "the guest's architecture", value);
  }
}

function mayEmulate({ spec, config }: LauncherRequest): boolean {
  return Boolean(spec.architecture) && config.gate("CrossArchitectureVirtualization");
}

/** If any node that can emulate the architecture will do, nothing may require the node's own. */
function isHeard(key: string, request: LauncherRequest): boolean {
  return key !== foreignNames.architecture || !mayEmulate(request);
}

function selectCpu({ spec, domain, config, names }: LauncherRequest, want: Want): void {
  const { nodeLabels } = names;
  const { cpu, features } = domain;
  if (hasDedicatedCpus(spec)) {
    want(
      nodeLabels.cpuManager,
      "vmi.spec.domain.cpu.dedicatedCpuPlacement",
      "assigns dedicated CPUs",
    );
  }
  if (config.gate("HypervStrictCheck") && features?.hyperv) {
    selectHyperv(features.hyperv, names, want);
  }
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

function selectHyperv(hyperv: FeatureHyperv, { nodeLabels }: Names, want: Want): void {
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

function selectMachine({ domain, status, names }: LauncherRequest, want: Want): void {
  const running = status.machine?.type;
  const type = running || domain.machine?.type;
  if (!type) return;
  const from = running ? "vmi.status.machine.type" : "vmi.spec.domain.machine.type";
  want(`${names.nodeLabels.machineType}${type}`, from, "the machine type");
}

/** A guest whose clock follows the TSC can only run where that frequency is available. */
function selectClock({ domain, status, names }: LauncherRequest, want: Want): void {
  const frequency = status.topologyHints?.tscFrequency;
  if (!frequency || frequency <= 0) return;
  const invariant = domain.cpu?.features?.some(
    ({ name, policy }) => name === "invtsc" && (policy === "require" || policy === "force"),
  );
  if (!invariant && domain.features?.hyperv?.reenlightenment?.enabled !== true) return;
  const key = `${names.nodeLabels.tscFrequency}${frequency}`;
  want(key, "vmi.status.topologyHints.tscFrequency", "the guest's clock depends on it");
}

function selectConfidentiality({ spec, names }: LauncherRequest, want: Want): void {
  const { nodeLabels } = names;
  const from = "vmi.spec.domain.launchSecurity";
  if (wantsSev(spec)) want(nodeLabels.sev, from, "AMD SEV");
  if (wantsSevEs(spec)) want(nodeLabels.sevEs, from, "AMD SEV-ES");
  if (wantsSevSnp(spec)) want(nodeLabels.sevSnp, from, "AMD SEV-SNP");
  if (wantsSecureExecution(spec)) want(nodeLabels.secureExecution, from, "IBM Secure Execution");
  if (wantsTdx(spec)) want(nodeLabels.tdx, from, "Intel TDX");
}
