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

const controllers = createControllers({
  ...{ client, log, election: { namespace, name: "virt-controller" } },
  installed: await installedProjects(client, { signal }),
  config: () => {
    const cluster = configuration.current;
    return { cluster, profile: virtkitLauncherProfile({ image, names: cluster.names }) };
  },
});
const health = await serveHealth(() => controllers.problems(), { port: 8080 });
log.info("the controllers start");
await controllers.run({ signal });
await health[Symbol.asyncDispose]();
