import type {
  HTTPGetAction,
  Interface,
  Probe,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from "@virtkit/api/schema";
import { masqueradeGuest } from "@virtkit/network-setup/plan";
import type { ProbeThresholds } from "./probe-state.ts";

/** How a guest is checked. */
export type ProbeAction =
  | { readonly kind: "exec"; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: "agent" }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | {
      readonly kind: "http";
      readonly url: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
    };

/** A probe with its defaults; times in seconds. */
export interface ProbePlan {
  readonly action: ProbeAction;
  readonly initialDelay: number;
  readonly period: number;
  readonly timeout: number;
  readonly thresholds: ProbeThresholds;
}

/** A field that makes a probe impossible without a kubelet. */
export interface ProbeFault {
  readonly path: string;
  readonly message: string;
}

/** The probes of a VMI, without faulty ones. */
export interface ProbePlans {
  readonly readiness?: ProbePlan;
  readonly liveness?: ProbePlan;
  readonly faults: readonly ProbeFault[];
}

/**
 * Plans the probes of a VMI for a launcher that runs the checks itself, from inside the sandbox's
 * network. Defaults are those of a Pod's probe; the first check comes `initialDelaySeconds` after
 * the guest's start.
 */
export function planProbes({ spec }: VirtualMachineInstance): ProbePlans {
  const readiness = planProbe(spec, "readinessProbe");
  const liveness = planProbe(spec, "livenessProbe");
  return {
    ...("action" in readiness ? { readiness } : {}),
    ...("action" in liveness ? { liveness } : {}),
    faults: [readiness, liveness].flatMap((one) => ("faults" in one ? one.faults : [])),
  };
}

type Fallible<T> = T | { readonly faults: readonly ProbeFault[] };

function planProbe(
  spec: VirtualMachineInstanceSpec,
  field: "readinessProbe" | "livenessProbe",
): Fallible<ProbePlan> {
  const probe = spec[field];
  if (!probe) return { faults: [] };
  const at = `spec.${field}`;
  const success = atLeastOne(probe.successThreshold, 1);
  if (field === "livenessProbe" && success !== 1) {
    return fault(`${at}.successThreshold`, `is ${success}; a liveness probe must have 1`);
  }
  const action = actionOf(probe, spec, at);
  if ("faults" in action) return action;
  return {
    action,
    initialDelay: Math.max(probe.initialDelaySeconds ?? 0, 0),
    period: atLeastOne(probe.periodSeconds, 10),
    timeout: atLeastOne(probe.timeoutSeconds, 1),
    thresholds: { success, failure: atLeastOne(probe.failureThreshold, 3) },
  };
}

/** Numbers below 1 mean the default, as in the Pod that a cluster would create. */
function atLeastOne(value: number | undefined, otherwise: number): number {
  return value !== undefined && value >= 1 ? value : otherwise;
}

function fault(path: string, message: string): { readonly faults: readonly ProbeFault[] } {
  return { faults: [{ path, message: `${path} ${message}` }] };
}

function actionOf(
  { exec, guestAgentPing, httpGet, tcpSocket }: Probe,
  spec: VirtualMachineInstanceSpec,
  at: string,
): Fallible<ProbeAction> {
  if (guestAgentPing) return { kind: "agent" };
  if (exec) {
    const [command, ...args] = exec.command ?? [];
    if (command) return { kind: "exec", command, args };
    return fault(`${at}.exec.command`, "is empty; give the program to run in the guest");
  }
  const target = httpGet ?? tcpSocket;
  if (!target) return fault(at, "does nothing; set httpGet, tcpSocket, exec or guestAgentPing");
  const path = `${at}.${httpGet ? "httpGet" : "tcpSocket"}`;
  const found = targetOf(target, spec, path);
  if ("faults" in found) return found;
  return httpGet ? httpAction(httpGet, found) : { kind: "tcp", ...found };
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** The guest's end of the masquerade, and a port that the Pod's address would lead to. */
function targetOf(
  { host, port }: { readonly host?: string; readonly port: number | string },
  { networks = [], domain }: VirtualMachineInstanceSpec,
  path: string,
): Fallible<Target> {
  if (host) return fault(`${path}.host`, "is set; local mode checks the guest only, so remove it");
  const network = networks.find(({ pod }) => pod);
  const nic = domain.devices.interfaces?.find(({ name }) => name === network?.name);
  if (!network?.pod || !nic?.masquerade) {
    const what = "needs the Pod network with masquerade in local mode";
    return fault(path, `${what}; use masquerade: {}, or exec or guestAgentPing`);
  }
  const number = typeof port === "number" ? port : portOf(port, nic);
  if (number === undefined || number < 1 || number > 65_535) {
    const what = "is neither a port nor the name of one in the interface's ports";
    return fault(`${path}.port`, `${JSON.stringify(port).slice(0, 80)} ${what}`);
  }
  const ports = (nic.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  if ((nic.ports ?? []).length > 0 && !ports.some((each) => each.port === number)) {
    const what = "is not among the ports of the interface, so nothing outside reaches it";
    return fault(`${path}.port`, `${number} ${what}; add it there`);
  }
  return { host: masqueradeGuest(network.pod), port: number };
}

function portOf(text: string, { ports = [] }: Interface): number | undefined {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  return ports.find(({ name }) => name === text)?.port;
}

function httpAction(
  { scheme = "HTTP", path = "/", httpHeaders = [] }: HTTPGetAction,
  { host, port }: Target,
): ProbeAction {
  const url = `${scheme.toLowerCase()}://${host}:${port}${path.startsWith("/") ? "" : "/"}${path}`;
  return { kind: "http", url, headers: httpHeaders.map(({ name, value }) => [name, value]) };
}
