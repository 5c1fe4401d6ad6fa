#!/usr/bin/env node
/** Installs the platform in the cluster of the current kubeconfig, and removes it again; `--help` prints how to call it. */
import { parseArgs } from "node:util";
import { install, uninstall, untilSignal } from "@virtkit/operator";
import { manifests } from "@virtkit/operator/manifests";
import { stringify } from "yaml";

const usage = `Installs the platform in the cluster of the current kubeconfig, and removes it again.

  virtkit-operator manifests --image IMAGE   prints what would be applied
  virtkit-operator install --image IMAGE     applies it, and waits until everything is ready
  virtkit-operator uninstall                 removes it; refuses while there are VMs

  --namespace NAME     the namespace of the platform; kubevirt by default
  --emulation          lets guests run on nodes without KVM, slowly
  --working-tree DIR   runs components from this repository, which is at the same path on every node, and restarts
                       them when one of their files changes
  --force              uninstall deletes VMs first
`;
const options = /** @type {const} */ ({
  image: { type: "string" },
  namespace: { type: "string", default: "kubevirt" },
  emulation: { type: "boolean", default: false },
  "working-tree": { type: "string" },
  force: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
});
const signal = untilSignal();

/** A client of the current context. The code that reads kubeconfigs is loaded only when a client is needed. */
async function connect() {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const { kubeconfigClient } = await import("@virtkit/kube/kubeconfig");
  const config = new KubeConfig();
  config.loadFromDefault();
  return kubeconfigClient(config);
}

/** @param {string[]} args */
async function main(args) {
  const { values: flags, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (flags.help) return void process.stdout.write(usage);
  const [command = "", ...rest] = positionals;
  if (rest.length > 0 || !["manifests", "install", "uninstall"].includes(command)) {
    throw new Error(`"${positionals.join(" ")}": use manifests, install or uninstall; see --help`);
  }
  const { image = "", namespace, force, "working-tree": workingTree } = flags;
  if (command !== "uninstall" && !image) throw new Error("--image is missing; name the image");
  const configuration = flags.emulation ? { developerConfiguration: { useEmulation: true } } : {};
  const fromTree = workingTree && { workingTree, programs: `${workingTree}/examples/operator` };
  const installation = { image, namespace, configuration, ...fromTree };
  if (command === "manifests") {
    const documents = manifests(installation).map((object) => stringify(object));
    return void process.stdout.write(documents.join("---\n"));
  }
  const common = { client: await connect(), signal };
  const lines =
    command === "install"
      ? install({ ...common, ...installation })
      : uninstall({ ...common, namespace, force });
  for await (const line of lines) process.stderr.write(`${line}\n`);
  common.client.close();
}

// A reader such as `head` or `less` may have enough. What was begun in the cluster is completed all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (Object(error).code !== "EPIPE") throw error;
  });
}
main(process.argv.slice(2)).catch((error) => {
  const message = error instanceof Error ? error.message : String(error);
  // Node's advice about positional arguments does not apply to these commands.
  const isUsage = String(Object(error).code).startsWith("ERR_PARSE_ARGS");
  const text = isUsage ? `${message.split(". ")[0]}; see --help` : message;
  const told = signal.aborted ? "interrupted; repeat the command to complete it" : text;
  process.stderr.write(`virtkit-operator: ${told}\n`);
  process.exitCode = 1;
});
