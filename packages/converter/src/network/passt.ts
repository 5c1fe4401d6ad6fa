import type { Interface } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Draft } from "../draft.ts";
import type {
  DomainInterfaceBackend,
  DomainInterfaceSource,
  DomainPortForward,
  DomainPortRange,
} from "../model/interface.ts";

const istioAnnotation = "sidecar.istio.io/inject";

/** Ports on which an Istio sidecar listens in the Pod; they must not reach the guest. */
const istioPorts = [15000, 15001, 15004, 15006, 15008, 15009, 15020, 15021, 15053, 15090];

/** What a card behind a passt process has in addition to its model. */
export interface PasstAttachment {
  readonly type: "vhostuser";
  readonly source: DomainInterfaceSource;
  readonly backend: DomainInterfaceBackend;
  readonly portForward: DomainPortForward[];
}

/** A card that a passt process connects to the Pod's interface, with the ports that it forwards. */
export function passtOf(draft: Draft, source: Interface, path: string): PasstAttachment {
  const status = draft.vmi.status?.interfaces?.find(
    ({ name }) => (name ?? "") === (source.name ?? ""),
  );
  if (!status?.podInterfaceName) {
    const message = `status.interfaces has no podInterfaceName for "${source.name}" yet; wait for it`;
    throw invalidVmi(path, message);
  }
  return {
    type: "vhostuser",
    source: { dev: status.podInterfaceName },
    backend: { type: "passt", logFile: draft.paths.passtLog },
    portForward: forwardedPorts(source, draft.annotations),
  };
}

/** Without any port, all are forwarded. */
function forwardedPorts(
  { ports }: Interface,
  annotations: Readonly<Record<string, string>>,
): DomainPortForward[] {
  const istio = annotations[istioAnnotation]?.toLowerCase() === "true";
  const tcp: DomainPortRange[] = istio
    ? istioPorts.map((start) => ({ start, exclude: "yes" }))
    : [];
  const udp: DomainPortRange[] = [];
  for (const { port, protocol } of ports ?? []) {
    const start = port ?? 0;
    if (start < 0) continue;
    const name = protocol?.toLowerCase() || "tcp";
    if (name === "tcp") tcp.push({ start });
    else if (name === "udp") udp.push({ start });
  }
  if (tcp.length === 0 && udp.length === 0) return [{ proto: "tcp" }, { proto: "udp" }];
  const forwards: DomainPortForward[] = [];
  if (tcp.length > 0) forwards.push({ proto: "tcp", range: tcp });
  if (udp.length > 0) forwards.push({ proto: "udp", range: udp });
  return forwards;
}
