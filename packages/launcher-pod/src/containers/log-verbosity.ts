import type { ClusterConfig } from "@virtkit/api/config";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { Step } from "../pod-draft.ts";

const verbosityLabel = "logVerbosity";
const defaultVerbosity = 2;

/** Above this, the programs beside the launcher write debug logs, too. */
const debugThreshold = 5;

/** The verbosity of the launcher's log: a label of the VMI, otherwise the configuration. */
export function logVerbosityOf(
  labels: Readonly<Record<string, string>>,
  config: ClusterConfig,
): number {
  const label = labels[verbosityLabel];
  if (label === undefined) return config.verbosity("virtLauncher");
  if (/^\+?[0-9]{1,9}$/.test(label)) return Number(label);
  const path = `metadata.labels.${verbosityLabel}`;
  const message = `${path} is "${label}"; use a whole number such as 3`;
  throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, { path });
}

/** Tells the launcher and its neighbours how much to log, and who they are. */
export const logEnvironment: Step = ({ labels, logVerbosity }, { env }) => {
  const label = labels[verbosityLabel];
  if (label !== undefined || logVerbosity !== defaultVerbosity) {
    env.push({ name: "VIRT_LAUNCHER_LOG_VERBOSITY", value: label ?? `${logVerbosity}` });
  }
  const debug = logVerbosity > debugThreshold;
  if (debug || isTrue(labels["debugLogs"])) env.push({ name: "LIBVIRT_DEBUG_LOGS", value: "1" });
  if (debug || isTrue(labels["virtiofsdDebugLogs"])) {
    env.push({ name: "VIRTIOFSD_DEBUG_LOGS", value: "1" });
  }
  env.push({ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } });
};

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === "true";
}
