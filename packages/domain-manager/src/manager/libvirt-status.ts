import type { Libvirt } from "../libvirt/libvirt.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { DomainState, DomainStatus } from "../status/domain-status.ts";
import { findDomain } from "./guest-domain.ts";

const states: Readonly<Record<string, DomainState>> = {
  running: "Running",
  blocked: "Blocked",
  paused: "Paused",
  shutdown: "ShuttingDown",
  shutoff: "Shutoff",
  crashed: "Crashed",
  pmSuspended: "PMSuspended",
};

/** Stand-in until the watcher is there. */
export class LibvirtStatus {
  readonly #libvirt: Pick<Libvirt, "call" | "subscribe">;
  readonly #name: string;
  constructor(libvirt: Pick<Libvirt, "call" | "subscribe">, name: string) {
    this.#libvirt = libvirt;
    this.#name = name;
  }
  async status(options: CallOptions = {}): Promise<DomainStatus> {
    const found = await findDomain(this.#libvirt, this.#name, options);
    const base = { name: this.#name, agent: "disconnected", interfaces: [], disks: [] } as const;
    if (!found) return { ...base, state: "Absent", reason: "" };
    const reason = found.reason[0]?.toUpperCase() + found.reason.slice(1);
    return { ...base, uuid: found.dom.uuid, state: states[found.state] ?? "NoState", reason };
  }
}
