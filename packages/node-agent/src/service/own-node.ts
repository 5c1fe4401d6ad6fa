import { readFileSync } from "node:fs";
import { at, text } from "@virtkit/api/shape";
import { defineResource, type KubeClient, type Resource } from "@virtkit/kube";
import { NodeAgentError } from "../node-agent-error.ts";
import type { Effects } from "./seams.ts";

/** Nodes. */
export const nodeResource: Resource = defineResource({
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
});

/** What distinguishes this boot of this machine from all others. */
export interface MachineIdentity {
  readonly machineID: string;
  readonly bootID: string;
}

/** Files with the identity of the machine and the boot. */
export interface IdentityFiles {
  /** Default `/etc/machine-id`. In a Pod: a file of the node, mounted. */
  readonly machineIdFile?: string;
  /** Default `/proc/sys/kernel/random/boot_id`. */
  readonly bootIdFile?: string;
}

/** As this host reports it. */
export function machineIdentity({
  machineIdFile = "/etc/machine-id",
  bootIdFile = "/proc/sys/kernel/random/boot_id",
}: IdentityFiles = {}): MachineIdentity {
  const read = (file: string): string => readFileSync(file, "utf8").trim();
  return { machineID: read(machineIdFile), bootID: read(bootIdFile) };
}

/**
 * Checks that the Node object describes this boot of this machine. Claims name it, and a controller considers a
 * holder from another boot ended: a claim in a boot that the kubelet has not reported yet would not be safe.
 */
export class OwnNode {
  readonly #client: KubeClient;
  readonly #name: string;
  readonly #identity: MachineIdentity;
  readonly #effects: Effects;
  #isConfirmed = false;

  constructor(client: KubeClient, name: string, identity: MachineIdentity, effects: Effects) {
    this.#client = client;
    this.#name = name;
    this.#identity = identity;
    this.#effects = effects;
  }

  get identity(): MachineIdentity {
    return this.#identity;
  }

  /** Asks the API server until it agrees once: neither changes while this process lives. */
  async confirm({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#isConfirmed) return;
    const node = await this.#effects("read the Node", () =>
      this.#client.get(nodeResource, { name: this.#name }, { signal }),
    );
    const info = at(node, "status", "nodeInfo");
    const found = { machineID: text(at(info, "machineID")), bootID: text(at(info, "bootID")) };
    const { machineID, bootID } = this.#identity;
    if (found.machineID === machineID && found.bootID === bootID) {
      this.#isConfirmed = true;
      return;
    }
    const message = `the Node ${this.#name} is machine ${found.machineID} in boot ${found.bootID}, this is machine ${machineID} in boot ${bootID}; nothing is claimed until the kubelet reports this boot`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: "status.nodeInfo" });
  }
}
