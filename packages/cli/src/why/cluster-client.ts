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
  const [{ KubeConfig }, { kubeconfigClient }] = await loadClient();
  const config = new KubeConfig();
  const file = choice.kubeconfig ?? io.env["KUBECONFIG"];
  try {
    if (file) config.loadFromFile(file);
    else config.loadFromDefault();
  } catch (error) {
    throw new Error(`the kubeconfig ${file ?? ""} cannot be read: ${describeError(error)}`);
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
