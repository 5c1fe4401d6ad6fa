import { describeError, type Observers } from "@virtkit/api/observe";
import type { KubeClient } from "@virtkit/kube";
import { Reflector } from "@virtkit/kube/reflector";
import { otherResources } from "../resources.ts";
import { type FrontProxy, readFrontProxy } from "./front-proxy.ts";

const place = { namespace: "kube-system", name: "extension-apiserver-authentication" };

/**
 * Calls `found` with what the API server says about its front proxy, now and whenever it changes. If it cannot be
 * read, the last value stays in place, and a line is logged. Ends with the signal.
 */
export async function followFrontProxy(
  client: KubeClient,
  found: (frontProxy: FrontProxy) => void,
  { signal, log }: Observers & { readonly signal: AbortSignal },
): Promise<void> {
  const reflector = new Reflector(client, otherResources.configMaps, {
    namespace: place.namespace,
    fieldSelector: `metadata.name=${place.name}`,
    signal,
    log,
  });
  for await (const event of reflector) {
    if (event.type !== "apply") continue;
    try {
      found(readFrontProxy(event.object));
    } catch (error) {
      log?.error({ error: describeError(error) }, "the front proxy is not known");
    }
  }
}
