#!/usr/bin/env node
/**
 * Installs the platform in the cluster of the current kubeconfig, and removes it again.
 *
 *     virtkit-operator manifests --image IMAGE [--namespace NAME] [--emulation] [--working-tree DIR]
 *     virtkit-operator install   --image IMAGE [--namespace NAME] [--emulation] [--working-tree DIR]
 *     virtkit-operator uninstall [--namespace NAME] [--force]
 */
import { parseArgs } from "node:util";
import { install, isOperatorError, uninstall, untilSignal } from "@virtkit/operator";
import { manifests } from "@virtkit/operator/manifests";
import { stringify } from "yaml";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    image: { type: "string" },
    namespace: { type: "string", default: "kubevirt" },
    /** Guests also run on nodes without KVM, slowly. */
    emulation: { type: "boolean", default: false },
    /** This repository, at the same path on every node: components run from it, and restart when one of their files changes. */
    "working-tree": { type: "string" },
    force: { type: "boolean", default: false },
  },
});
const [command = "", ...rest] = positionals;
const { image = "", namespace, force } = flags;
const developerConfiguration = { useEmulation: true };
const configuration = flags.emulation ? { developerConfiguration } : {};
const workingTree = flags["working-tree"];
const fromTree = workingTree && { workingTree, programs: `${workingTree}/examples/operator` };
const installation = { image, namespace, configuration, ...fromTree };

/** A client of the current context. The code that reads kubeconfigs is loaded only when a client is needed. */
async function connect() {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const { kubeconfigClient } = await import("@virtkit/kube/kubeconfig");
  const config = new KubeConfig();
  config.loadFromDefault();
  return kubeconfigClient(config);
}

/** @param {AsyncIterable<string>} lines */
async function show(lines) {
  for await (const line of lines) process.stderr.write(`${line}\n`);
}

/** @returns {Promise<void>} */
async function main() {
  if (rest.length > 0 || !["manifests", "install", "uninstall"].includes(command)) {
    throw new Error(`"${positionals.join(" ")}": use manifests, install or uninstall`);
  }
  if (command !== "uninstall" && !image) throw new Error("--image is missing; name the image");
  if (command === "manifests") {
    const documents = manifests(installation).map((object) => stringify(object));
    process.stdout.write(documents.join("---\n"));
    return;
  }
  const client = await connect();
  const signal = untilSignal();
  const common = { client, signal };
  await show(
    command === "install"
      ? install({ ...common, ...installation })
      : uninstall({ ...common, namespace, force }),
  );
  client.close();
}

try {
  await main();
} catch (error) {
  if (!isOperatorError(error) && !(error instanceof Error)) throw error;
  process.stderr.write(`virtkit-operator: ${error.message}\n`);
  process.exitCode = 1;
}
