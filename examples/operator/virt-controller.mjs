#!/usr/bin/env node
/** All controllers of VMs. Of several replicas, the one with the lease works; the others are ready to take over. */
import { parseArgs } from "node:util";
import { lineLog } from "@virtkit/api/observe";
import {
  controllerMetrics,
  kubevirtClientMetrics,
  kubevirtQueueMetrics,
} from "@virtkit/controller/metrics";
import {
  compileLate,
  createControllers,
  installationPart,
  standardParts,
} from "@virtkit/controller/service";
import { inClusterClient, inClusterNamespace } from "@virtkit/kube/in-cluster";
import { collectMetrics, prometheusMetrics } from "@virtkit/kube/prometheus";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import {
  followConfiguration,
  installedProjects,
  serveHealth,
  untilProjectsChange,
  untilSignal,
} from "@virtkit/operator";
import { Registry } from "prom-client";

compileLate();
const { values: flags } = parseArgs({ options: { "launcher-image": { type: "string" } } });
const image = flags["launcher-image"];
if (!image) throw new Error("--launcher-image is missing; pass the image of launcher Pods");

const ending = untilSignal();
const log = lineLog((line) => process.stdout.write(`${line}\n`));
const registry = new Registry();
const metrics = kubevirtClientMetrics(kubevirtQueueMetrics(prometheusMetrics(registry)));
const client = inClusterClient({ metrics });
const namespace = await inClusterNamespace();
const installed = await installedProjects(client, { signal: ending });
// Once CDI or Multus is installed, there are other objects to watch: everything ends, and the kubelet restarts this process.
const signal = untilProjectsChange(client, installed, { signal: ending });
const configuration = await followConfiguration({ client, namespace, signal, log });

const architecture = process.arch === "x64" ? "amd64" : process.arch;
const controllers = createControllers({
  parts: [...standardParts, installationPart({ namespace, architecture })],
  ...{ client, log, metrics, installed, election: { namespace, name: "virt-controller" } },
  config: () => {
    const cluster = configuration.current;
    const { names } = cluster;
    return { cluster, profile: virtkitLauncherProfile({ image, names, readOnlyRoot: true }) };
  },
});
collectMetrics(registry, controllerMetrics(controllers, metrics));
const health = await serveHealth(() => controllers.problems(), {
  port: 8080,
  metrics: () => registry.metrics(),
});
log.info("the controllers start");
await controllers.run({ signal });
await health[Symbol.asyncDispose]();
