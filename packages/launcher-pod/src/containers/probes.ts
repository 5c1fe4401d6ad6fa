import type { Probe } from "@virtkit/api/schema";
import type { LauncherRequest } from "../launcher-request.ts";
import type { PodProbe } from "../pod/container.ts";
import type { Step } from "../pod-draft.ts";

/** libvirt takes about this long before there is anything to probe. */
const startupSeconds = 10;

/** The guest's probes, as probes of the compute container. */
export const probes: Step = (request, { probes: own }) => {
  const { livenessProbe, readinessProbe } = request.spec;
  if (livenessProbe) own.livenessProbe = podProbe(request, livenessProbe);
  if (readinessProbe) own.readinessProbe = podProbe(request, readinessProbe);
};

/** Command and agent probes run a program beside the guest; they get one second more. */
function podProbe(request: LauncherRequest, probe: Probe): PodProbe {
  const timeoutSeconds = atLeastOne(probe.timeoutSeconds, 1);
  const question = guestQuestion(request, probe, timeoutSeconds);
  const exec = question ? { command: question } : probe.exec;
  return {
    ...(exec ? { exec } : {}),
    ...(probe.httpGet ? { httpGet: probe.httpGet } : {}),
    ...(probe.tcpSocket ? { tcpSocket: probe.tcpSocket } : {}),
    initialDelaySeconds: (probe.initialDelaySeconds ?? 0) + startupSeconds,
    timeoutSeconds: question ? timeoutSeconds + 1 : timeoutSeconds,
    periodSeconds: atLeastOne(probe.periodSeconds, 10),
    successThreshold: atLeastOne(probe.successThreshold, 1),
    failureThreshold: atLeastOne(probe.failureThreshold, 3),
  };
}

function atLeastOne(value: number | undefined, otherwise: number): number {
  return value !== undefined && value >= 1 ? value : otherwise;
}

/** The command that asks the guest; undefined if the kubelet can probe directly. */
function guestQuestion(
  { profile, namespace, name }: LauncherRequest,
  { guestAgentPing, exec }: Probe,
  timeoutSeconds: number,
): string[] | undefined {
  const { probe } = profile.programs;
  const line = [
    probe,
    "--domainName",
    `${namespace}_${name}`,
    "--timeoutSeconds",
    `${timeoutSeconds}`,
  ];
  if (guestAgentPing) return [...line, "--guestAgentPing"];
  const [program, ...args] = exec?.command ?? [];
  // A command that already asks the guest has passed through here before.
  if (program === undefined || program === probe) return undefined;
  return [...line, "--command", program, "--", ...args];
}
