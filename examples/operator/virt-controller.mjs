#!/usr/bin/env node
/** All controllers of VMs. Of several replicas one works, by a lease; the others are ready to take over. */
import { parseArgs } from "node:util";
import { lineLog } from "@virtkit/api/observe";
import { createControllers } from "@virtkit/controller/service";
import { inClusterClient, inClusterNamespace } from "@virtkit/kube/in-cluster";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import {
  followConfiguration,
  installedProjects,
  projectsChange,
  serveHealth,
  untilSignal,
} from "@virtkit/operator";

const { values: flags } = parseArgs({ options: { "launcher-image": { type: "string" } } });
const image = flags["launcher-image"];
if (!image) throw new Error("--launcher-image is missing; give the image of launcher Pods");

const signal = untilSignal();
const log = lineLog((line) => process.stdout.write(`${line}\n`));
const client = inClusterClient();
const namespace = await inClusterNamespace();
const configuration = await followConfiguration({ client, namespace, signal, log });

const installed = await installedProjects(client, { signal });
const controllers = createControllers({
  ...{ client, log, installed, election: { namespace, name: "virt-controller" } },
  config: () => {
    const cluster = configuration.current;
    return { cluster, profile: virtkitLauncherProfile({ image, names: cluster.names }) };
  },
});
const health = await serveHealth(() => controllers.problems(), { port: 8080 });
log.info("the controllers start");
// With CDI or Multus come other objects to watch: the kubelet starts this process anew.
const change = new AbortController();
void projectsChange(client, installed, { signal }).then(() => change.abort());
await controllers.run({ signal: AbortSignal.any([signal, change.signal]) });
await health[Symbol.asyncDispose]();
