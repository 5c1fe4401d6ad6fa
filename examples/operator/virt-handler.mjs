#!/usr/bin/env node
/** The agent of one node: prepares and runs its guests, offers its devices, and reports what it can do. Guests outlive it. */
import { parseArgs } from "node:util";
import { lineLog } from "@virtkit/api/observe";
import { inClusterClient, inClusterNamespace } from "@virtkit/kube/in-cluster";
import { startDevicePlugins } from "@virtkit/node-agent/device-plugins";
import { readCapabilities, readCapabilityFiles, startNodeDuties } from "@virtkit/node-agent/duties";
import { startMetricsServer } from "@virtkit/node-agent/metrics";
import { migrationAddress, migrationCertificates } from "@virtkit/node-agent/migration";
import { prepareNode } from "@virtkit/node-agent/node-setup";
import * as service from "@virtkit/node-agent/service";
import * as operator from "@virtkit/operator";

const { values: flags } = parseArgs({
  options: {
    "state-directory": { type: "string", default: "/var/lib/virtkit" },
    "machine-id-file": { type: "string", default: "/etc/machine-id" },
    "boot-id-file": { type: "string", default: "/proc/sys/kernel/random/boot_id" },
    // Lets every process of the node use userfaultfd, which post-copy needs.
    "allow-userfaultfd": { type: "boolean", default: false },
  },
});
const nodeName = process.env["NODE_NAME"];
if (!nodeName) throw new Error("NODE_NAME is missing; take it from the field spec.nodeName");

const signal = operator.untilSignal();
const log = lineLog((line) => process.stdout.write(`${line}\n`));
const client = inClusterClient();
const namespace = await inClusterNamespace();
const configuration = await operator.followConfiguration({ client, namespace, signal, log });
const config = () => configuration.current;
const architecture = service.hostArchitecture ?? "";
const documents = readCapabilityFiles();
const capabilities = documents && readCapabilities(documents, architecture);

const plugins = startDevicePlugins({ config: config(), log, onReady: () => void duties.beat() });
const duties = startNodeDuties({
  ...{ client, nodeName, config, log, architecture, capabilities: () => capabilities },
  devicesReady: () => plugins.ready,
});
const prepareNow = () =>
  prepareNode({ config: config(), log, allowUserfaultfd: flags["allow-userfaultfd"] });
prepareNow();
configuration.subscribe((changed) => {
  prepareNow();
  void plugins.update(changed).then(() => duties.label());
});

const agent = service.createNodeAgent({
  ...{ client, nodeName, config, log, stateDirectory: flags["state-directory"] },
  machineIdFile: flags["machine-id-file"],
  bootIdFile: flags["boot-id-file"],
  environment: () => ({ config: config(), allowEmulation: config().useEmulation }),
  // Guests arrive and leave through this Pod's address, with a certificate for each migration.
  migrations: {
    credentials: migrationCertificates({ client, namespace, names: config().names }),
    address: () => migrationAddress(),
  },
  hostCpuModel: () => capabilities?.hostModel?.name ?? "",
});
// Consoles and all other requests of the API server to guests, with a certificate that this node requests.
const guests = service.serveGuests({
  ...{ client, namespace, nodeName, agent, names: config().names, log },
  renewSince: () => operator.rotationAsked(config()),
});
operator.onRotationAsked(configuration, () => void guests.renew());
const ready = () => guests.problems.length === 0;
const health = await startMetricsServer({
  ...{ log, port: 8080, problems: () => agent.problems() },
  collect: service.agentMetrics({ agent, nodeName, log, ready, capabilities: () => capabilities }),
});
log.info({ node: nodeName }, "the node agent starts");
await agent.run({ signal });
for (const part of [guests, health, duties, plugins]) await part[Symbol.asyncDispose]();
