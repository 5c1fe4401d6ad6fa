import type { KubeClient } from "@virtkit/kube";
import { followCrds } from "./crd-kinds.ts";
import { InProcessClient } from "./in-process-client.ts";
import { callChannel, RecordedClient } from "./recorded-client.ts";
import { type ApiServerOptions, ServerState } from "./server-state.ts";

/**
 * A Kubernetes API server in this process. It keeps its objects in memory and returns them frozen, so nobody can
 * change them. Create a client for each actor of a test with {@link client}.
 */
export class InProcessApiServer extends ServerState {
  constructor(options: ApiServerOptions = {}) {
    super(options);
    followCrds(this);
    for (const name of ["default", "kube-system"]) {
      this.seedByKind({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
  }

  /** A client for one actor, under whose name its writes are recorded. */
  client(actor = "test"): KubeClient {
    const client = new InProcessClient(this, actor);
    return callChannel.hasSubscribers ? new RecordedClient(client) : client;
  }
}
