import type { BindingPlugins } from "@virtkit/api/network";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { isNetworkSetupError } from "@virtkit/network-setup/dhcp";
import {
  type Binding,
  type BridgeLease,
  bindingFacts,
  bindings,
  type LinkModel,
  linkModel,
  networksToWire,
  type Operation,
  operationText,
  planWiring,
  podIps,
  type Step,
  type WiringFlow,
} from "@virtkit/network-setup/plan";
import type { BatchFunction } from "../batch/batch-area.ts";
import { guardVmis } from "./guard-vmis.ts";
import { listField, objectField, objectsOf, textField, textsField } from "./input-fields.ts";
import {
  desiredForm,
  leaseForm,
  linkForm,
  podNics,
  type RecordedLink,
  type RecordedRoute,
  routesForm,
} from "./network-wiring-form.ts";
import { guestAnswer } from "./network-wiring-guest.ts";
import { placedAmong } from "./quirks.ts";

/** One run of the privileged part, then of the launcher's, on a namespace that is only described. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  wire: (input, context) =>
    guardVmis({ vmi: at(input, "vmi") }, () =>
      new Wiring(checked(input), checkedContext(context)).run(),
    ),
};

function checked(input: unknown): WireInput {
  objectField(input, "vmi");
  const given = Object(input) as Record<string, unknown>;
  for (const [index, link] of objectsOf(given["links"], "input.links").entries()) {
    textFields(link, ["name", "type", "mac", "state"], `input.links[${index}]`);
    textsField(link, "addresses", `input.links[${index}]`);
  }
  for (const [index, route] of listField(input, "routes").entries()) {
    textFields(route, ["dst", "gw", "dev"], `input.routes[${index}]`);
  }
  textField(input, "failOn");
  return input as WireInput;
}

function checkedContext(context: unknown): WireContext {
  const { networkBindings } = Object(context) as WireContext;
  textField(context, "handlerPodIP", "context");
  if (networkBindings) objectField(context, "networkBindings");
  return Object(context) as WireContext;
}

/** Each may be missing; one that is not a string is an error that names it. */
function textFields(holder: object, names: readonly string[], at: string): void {
  for (const name of names) textField(holder, name, at);
}

interface WireInput {
  readonly vmi: VirtualMachineInstance;
  readonly flow: WiringFlow;
  readonly launcherPID: number;
  readonly states?: Readonly<Record<string, NetworkState>>;
  readonly links: readonly RecordedLink[];
  readonly routes?: readonly RecordedRoute[];
  readonly failOn?: string;
}

interface WireContext {
  readonly handlerPodIP?: string;
  readonly networkBindings?: BindingPlugins;
  readonly portRangesGate?: boolean;
}

const networkStates = ["pending", "started", "finished"] as const;
type NetworkState = (typeof networkStates)[number];

const privateDirectory = "/var/run/kubevirt-private";

/** What the node agent remembers about a network. */
interface Remembered {
  iface?: unknown;
  podIP?: string;
  podIPs?: readonly string[];
  networkState?: number;
}

class Wiring {
  readonly #input: WireInput;
  readonly #context: WireContext;
  readonly #states = new Map<string, NetworkState>();
  readonly #remembered = new Map<string, Remembered>();
  readonly #leases = new Map<string, BridgeLease>();
  readonly #model: LinkModel;
  readonly #answer: Record<string, unknown>;
  readonly #links: string[] = [];
  readonly #nft: string[] = [];

  constructor(input: WireInput, context: WireContext) {
    this.#input = input;
    this.#context = context;
    for (const { name } of input.vmi.spec?.networks ?? []) {
      const state = input.states?.[name] ?? "pending";
      this.#states.set(name, state);
      if (state !== "pending")
        this.#remembered.set(name, { networkState: networkStates.indexOf(state) });
    }
    this.#model = linkModel(
      podNics(input.links, input.routes ?? []),
      (index) => `02:ff:00:00:00:${index.toString(16).padStart(2, "0")}`,
    );
    this.#answer = { desiredSpec: null, netlinkOps: this.#links, nft: this.#nft };
  }

  run(): unknown {
    const { vmi, flow } = this.#input;
    const networks = networksToWire(vmi, flow);
    this.#answer["networks"] = networks.map(({ name }) => name);
    try {
      this.#privileged(bindings(vmi, networks, this.#nics(), this.#context.networkBindings));
      this.#answer["finalLinks"] = this.#model.links.map((link) =>
        linkForm(link, this.#model.links),
      );
      if (flow === "startup") {
        this.#answer["phase2"] = guestAnswer({
          vmi,
          networks,
          links: this.#model.links,
          leases: this.#leases,
          plugins: this.#context.networkBindings ?? {},
        });
      }
    } catch (error) {
      const isInjected = error instanceof InjectedFailure;
      if (!isInjected && !isNetworkSetupError(error)) throw error;
      this.#answer["error"] = error.message;
      // KubeVirt fails a VMI permanently even if a step fails; here the journal continues with it.
      this.#answer["critical"] = isInjected || error.final;
    }
    this.#answer["states"] = Object.fromEntries(this.#states);
    this.#answer["cache"] = this.#cache();
    return this.#answer;
  }

  #nics(): ReturnType<typeof podNics> {
    return podNics(this.#input.links, this.#input.routes ?? []);
  }

  #privileged(all: readonly Binding[]): void {
    if (!this.#hasWork(all)) return;
    this.#answer["routesSeen"] = routesForm(this.#input.routes ?? [], this.#input.links);
    for (const binding of all) this.#discover(binding);
    const pending = all.filter((binding) => this.#isPending(binding));
    for (const { network } of pending) this.#remember(network.name, "started");
    this.#configure(all);
    for (const { network } of pending) this.#remember(network.name, "finished");
    for (const { iface, network } of all) {
      if (iface.state !== "absent" || this.#states.get(network.name) === "pending") continue;
      this.#states.set(network.name, "pending");
      this.#remembered.delete(network.name);
    }
  }

  /** A network that is `started` was interrupted: it counts as not wired yet, unless it must be removed. */
  #hasWork(all: readonly Binding[]): boolean {
    return all.some(({ kind, iface, network }) => {
      const state = this.#states.get(network.name);
      if (iface.state === "absent") return state !== undefined && state !== "pending";
      return kind !== "sriov" && state !== "finished";
    });
  }

  #isPending({ kind, iface, network }: Binding): boolean {
    const finished = this.#states.get(network.name) === "finished";
    return kind !== "sriov" && iface.state !== "absent" && !finished;
  }

  #discover(binding: Binding): void {
    const { iface, network, podInterface } = binding;
    if (iface.state === "absent") return;
    const { primaryFamily } = this.#primaryFamily();
    const ips = podIps(binding, primaryFamily);
    const [podIP] = ips;
    if (podIP !== undefined) {
      const known = this.#remembered.get(network.name);
      this.#remembered.set(network.name, { ...known, iface, podIP, podIPs: ips });
    }
    const { lease } = bindingFacts(binding, primaryFamily);
    if (lease) this.#leases.set(podInterface, lease);
  }

  #primaryFamily(): { readonly primaryFamily?: "ipv4" | "ipv6" } {
    const { handlerPodIP } = this.#context;
    if (!handlerPodIP) return {};
    return { primaryFamily: handlerPodIP.includes(":") ? "ipv6" : "ipv4" };
  }

  #configure(all: readonly Binding[]): void {
    const { vmi, flow, launcherPID } = this.#input;
    // Once one has work, KubeVirt plans all of them: those to wire again, and those to remove.
    const gone = all.filter(({ iface }) => iface.state === "absent");
    const { wanted, steps } = planWiring(placedAmong(vmi, all), this.#nics(), {
      flow,
      launcherPid: launcherPID,
      plugins: this.#context.networkBindings ?? {},
      wired: gone.map(({ network }) => network.name),
      portRanges: this.#context.portRangesGate ?? false,
      ...this.#primaryFamily(),
    });
    if (wanted) this.#answer["desiredSpec"] = desiredForm(wanted);
    for (const [index, { operation }] of steps.entries()) {
      try {
        this.#carryOut(operation);
      } catch (error) {
        this.#bringBack(steps, index);
        throw error;
      }
    }
  }

  #carryOut(operation: Operation): void {
    const list = operation.kind === "addNat" ? this.#nft : this.#links;
    for (const line of operationText(this.#resolved(operation))) {
      list.push(line);
      const { failOn } = this.#input;
      if (failOn !== undefined && line.startsWith(failOn)) throw new InjectedFailure();
    }
    this.#model.apply(operation);
  }

  /** A link that was taken down comes up again whatever happened meanwhile. */
  #bringBack(steps: readonly Step[], failed: number): void {
    const done = steps.slice(0, failed).map(({ operation }) => operation);
    const restoring = steps
      .slice(failed + 1)
      .map(({ operation }) => operation)
      .find((operation) => operation.kind === "setUp" && operation.restores);
    if (restoring?.kind !== "setUp") return;
    const { index } = restoring.link;
    if (done.some((operation) => operation.kind === "setDown" && operation.link.index === index))
      this.#links.push(...operationText(restoring));
  }

  #resolved(operation: Operation): Operation {
    if (operation.kind !== "setMac" || typeof operation.mac === "string") return operation;
    return { ...operation, mac: this.#model.macOf(operation.mac.sameAs) };
  }

  #remember(name: string, state: NetworkState): void {
    this.#states.set(name, state);
    const networkState = networkStates.indexOf(state);
    this.#remembered.set(name, { ...this.#remembered.get(name), networkState });
  }

  #cache(): unknown {
    const uid = this.#input.vmi.metadata?.uid ?? "";
    return Object.fromEntries([
      ...[...this.#remembered].map(([name, data]) => [
        `${privateDirectory}/network-info-cache/${uid}/${name}`,
        data,
      ]),
      ...[...this.#leases].map(([name, lease]) => [
        `/proc/PID/root${privateDirectory}/vif-cache-${name}.json`,
        { dhcp: leaseForm(lease) },
      ]),
    ]);
  }
}

class InjectedFailure extends Error {
  constructor() {
    super("the step was made to fail");
  }
}
