import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { lineLog } from "@virtkit/api/observe";
import { inClusterClient } from "@virtkit/kube/in-cluster";
import type { Credentials } from "@virtkit/pki";
import { startDevicePlugins } from "../device-plugins/device-plugins.ts";
import { readCapabilityFiles } from "../duties/capability-files.ts";
import { readCapabilities } from "../duties/node-capabilities.ts";
import { startNodeDuties } from "../duties/start-node-duties.ts";
import { vsockDialer } from "../guest-server/dial-vsock.ts";
import { startGuestServer } from "../guest-server/guest-server.ts";
import { hostArchitecture } from "../host-architecture.ts";
import { startMetricsServer } from "../metrics/metrics-server.ts";
import { prepareNode } from "../node-setup/prepare-node.ts";
import { agentMetrics } from "./agent-metrics.ts";
import { createNodeAgent } from "./create-node-agent.ts";
import { RequestEvents } from "./request-events.ts";
import { servedGuests } from "./served-guests.ts";

/** The options of `virtkit-node-agent`. */
const flags = {
  "node-name": { type: "string" },
  "state-directory": { type: "string", default: "/var/lib/virtkit" },
  /** A file with KubeVirt's `spec.configuration` as JSON. */
  configuration: { type: "string" },
  "machine-id-file": { type: "string", default: "/etc/machine-id" },
  "boot-id-file": { type: "string", default: "/proc/sys/kernel/random/boot_id" },
  /** A folder with `tls.crt`, `tls.key` and `ca.crt`: then guests are served to the API server. */
  "tls-directory": { type: "string" },
  /** A folder with the same files: what programs in guests are shown over VSOCK. Without it, TLS to them is refused. */
  "vsock-tls-directory": { type: "string" },
  /** Lets every process of the node use userfaultfd, which post-copy needs, if post-copy is allowed. */
  "allow-userfaultfd": { type: "boolean", default: false },
  /** Serves `/metrics` and `/healthz` over HTTP. */
  "metrics-port": { type: "string", default: "8080" },
} as const;

/**
 * The node agent as a program: runs until the signal, and says what happens as JSON lines. Guests run on when it ends.
 *
 * @returns the exit code
 */
export async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: flags, strict: true });
  const nodeName = values["node-name"] ?? process.env["NODE_NAME"] ?? "";
  const log = lineLog((line) => process.stdout.write(`${line}\n`));
  if (nodeName === "") {
    log.error({}, "the node name is missing; use --node-name or the variable NODE_NAME");
    return 2;
  }
  const config = readConfig(values.configuration);
  const client = inClusterClient();
  prepareNode({ config, log, allowUserfaultfd: values["allow-userfaultfd"] });
  // Left by an init container with a libvirt, which this program does not have; without it labels of what guests can
  // run are left as they are.
  const documents = readCapabilityFiles();
  const capabilities = documents && readCapabilities(documents, hostArchitecture ?? "");
  await using plugins = startDevicePlugins({ config, log, onReady: () => void duties.beat() });
  await using duties = startNodeDuties({
    ...{ client, nodeName, config: () => config, log, architecture: hostArchitecture ?? "" },
    devicesReady: () => plugins.ready,
    capabilities: () => capabilities,
  });
  const agent = createNodeAgent({
    client,
    nodeName,
    stateDirectory: values["state-directory"],
    machineIdFile: values["machine-id-file"],
    bootIdFile: values["boot-id-file"],
    config: () => config,
    hostCpuModel: () => capabilities?.hostModel?.name ?? "",
    environment: () => ({ config, allowEmulation: config.useEmulation }),
    log,
  });
  const credentials = readCredentials(values["tls-directory"]);
  const shown = readCredentials(values["vsock-tls-directory"]);
  await using events = new RequestEvents({ client, nodeName, log, names: config.names });
  await using _ = credentials
    ? await startGuestServer({
        ...{ nodeName, log, credentials: { current: credentials } },
        findGuest: servedGuests(agent),
        recordEvent: events.record,
        dialVsock: vsockDialer(shown && { credentials: async () => shown }),
      })
    : undefined;
  // The guest server, if there is one, listens by now.
  const reported = { ready: () => true, capabilities: () => capabilities };
  await using _metrics = await startMetricsServer({
    ...{ log, port: Number(values["metrics-port"]), problems: () => agent.problems() },
    collect: agentMetrics({ agent, nodeName, log, ...reported }),
  });
  log.info({ node: nodeName }, "the node agent starts");
  await agent.run({ signal });
  log.info({ node: nodeName }, "the node agent stops; guests keep running");
  return 0;
}

/** As Kubernetes mounts a Secret of type `kubernetes.io/tls`. */
function readCredentials(directory: string | undefined): Credentials | undefined {
  if (directory === undefined) return undefined;
  const read = (file: string): string => readFileSync(join(directory, file), "utf8");
  return {
    certificate: read("tls.crt"),
    privateKey: read("tls.key"),
    authorities: read("ca.crt"),
  };
}

function readConfig(file: string | undefined): ClusterConfig {
  if (file === undefined) return clusterConfig();
  return clusterConfig(JSON.parse(readFileSync(file, "utf8")) as object);
}
