import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { describeError } from "@virtkit/api/observe";
import type { HttpClient } from "@virtkit/kube";
import type { Io } from "../io.ts";

/** Which cluster, as kubectl's flags say it. */
export interface ClusterChoice {
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly namespace?: string | undefined;
}

/** A client of a cluster that a person uses, and the namespace that its context names. */
export interface ChosenCluster {
  readonly client: HttpClient;
  readonly context: string;
  readonly namespace: string;
}

/**
 * Opens the cluster of a kubeconfig. Loads `@kubernetes/client-node`, which supports all ways to authenticate.
 */
export async function chooseCluster(choice: ClusterChoice, io: Io): Promise<ChosenCluster> {
  const [{ KubeConfig }, { isWithoutKubeconfig, kubeconfigClient }] = await loadClient();
  const config = new KubeConfig();
  const files = kubeconfigFiles(choice, io);
  try {
    if (files.length === 0) config.loadFromDefault();
    for (const file of files) {
      const found = new KubeConfig();
      found.loadFromFile(file);
      addMissing(config, found);
    }
  } catch (error) {
    const shown = files.join(delimiter) || "of this user";
    throw new Error(`the kubeconfig ${shown} cannot be read: ${describeError(error)}`);
  }
  if (isWithoutKubeconfig(config)) {
    throw new Error("there is no kubeconfig; name one with --kubeconfig or $KUBECONFIG");
  }
  const known = config.getContexts().map(({ name }) => name);
  const context = choice.context ?? config.getCurrentContext();
  if (!known.includes(context)) {
    const there = known.length > 0 ? `it has ${known.join(", ")}` : "it has none";
    throw new Error(`the kubeconfig has no context "${context}"; ${there}`);
  }
  config.setCurrentContext(context);
  const namespace = choice.namespace ?? config.getContextObject(context)?.namespace ?? "default";
  return { client: kubeconfigClient(config, { timeout: 20_000 }), context, namespace };
}

/** What several kubeconfigs set is taken from the first of them, as kubectl does; client-node's own merge refuses it. */
function addMissing(config: KubeConfig, found: KubeConfig): void {
  const isNew = <T extends { readonly name: string }>(known: readonly T[], each: T): boolean =>
    known.every(({ name }) => name !== each.name);
  for (const each of found.clusters) if (isNew(config.clusters, each)) config.addCluster(each);
  for (const each of found.users) if (isNew(config.users, each)) config.addUser(each);
  for (const each of found.contexts) if (isNew(config.contexts, each)) config.addContext(each);
  const context = config.getCurrentContext() || found.getCurrentContext();
  if (context) config.setCurrentContext(context);
}

/**
 * Like kubectl: --kubeconfig names one file, and $KUBECONFIG may name several, of which those that do not exist are skipped
 * and the first that sets something wins. Empty: the default file.
 */
function kubeconfigFiles({ kubeconfig }: ClusterChoice, { env }: Io): readonly string[] {
  if (kubeconfig) return [kubeconfig];
  const named = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  const [only, ...more] = named;
  if (only === undefined || more.length === 0) return named;
  const there = named.filter((file) => existsSync(file));
  return there.length > 0 ? there : [only];
}

async function loadClient() {
  try {
    return await Promise.all([
      import("@kubernetes/client-node"),
      import("@virtkit/kube/kubeconfig"),
    ]);
  } catch (error) {
    const { code } = Object(error) as { code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(
      "to look into a cluster this command needs @kubernetes/client-node 1.4.0: npm install @kubernetes/client-node@1.4.0",
    );
  }
}
