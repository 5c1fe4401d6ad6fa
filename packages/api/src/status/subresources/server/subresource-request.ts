import type { ClusterConfig } from "../../../config/index.ts";
import type { RoutedRequest } from "./route.ts";
import type { SubresourceLookup } from "./subresource-lookup.ts";

/** A request that was routed and allowed. */
export interface SubresourceRequest extends RoutedRequest {
  readonly query: Readonly<Record<string, string>>;
  /** The body as text; empty if there is none. */
  readonly body: string;
  readonly contentType?: string | undefined;
  /** Whether the client requests a WebSocket. */
  readonly upgrade: boolean;
}

/** What a request is planned with. */
export interface SubresourceContext {
  readonly config: ClusterConfig;
  readonly lookup: SubresourceLookup;
  /** Parses a body that is not JSON; KubeVirt also accepts YAML. By default it must be JSON. */
  readonly parse?: ((text: string) => unknown) | undefined;
}
