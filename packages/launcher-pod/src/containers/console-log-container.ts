import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { unprivileged } from "../pod/container.ts";
import type { Step } from "../pod-draft.ts";
import { type SupportDefaults, supportResources } from "../resources/support-resources.ts";

const defaults: SupportDefaults = {
  type: "guest-console-log",
  requests: { cpu: "5m", memory: "35M" },
  limits: { cpu: "15m", memory: "60M" },
};

/** A sidecar that writes the output of the guest's first serial port to the Pod's log. */
export const consoleLogContainer: Step = (request, { initContainers }) => {
  const { uid, profile, config, guaranteed, logVerbosity, explain } = request;
  if (!isLogged(request)) return;
  const { private: home } = profile.directories;
  initContainers.push({
    name: "guest-console-log",
    image: profile.image,
    command: [profile.programs.consoleTail],
    args: ["--logfile", `${home}/${uid}/virt-serial0-log`],
    env: [{ name: "VIRT_LAUNCHER_LOG_VERBOSITY", value: `${logVerbosity}` }],
    resources: supportResources(config, defaults, guaranteed),
    // An init container with restartPolicy Always is a sidecar that starts first.
    restartPolicy: "Always",
    volumeMounts: [{ name: "private", readOnly: true, mountPath: home }],
    imagePullPolicy: config.imagePullPolicy,
    securityContext: {
      ...unprivileged(profile.userId),
      ...(profile.readOnlyRoot ? { readOnlyRootFilesystem: true } : {}),
    },
  });
  explain?.(
    part.initContainer("guest-console-log"),
    "vmi.spec.domain.devices.logSerialConsole",
    "the serial console is logged unless this or the configuration forbids it",
  );
};

function isLogged({ devices, config }: LauncherRequest): boolean {
  if (devices.autoattachSerialConsole === false) return false;
  if (typeof devices.logSerialConsole === "boolean") return devices.logSerialConsole;
  return !config.serialConsoleLogDisabled;
}
