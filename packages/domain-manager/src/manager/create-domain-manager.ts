import { realClock } from "@virtkit/api/clock";
import { watchDomain } from "../status/domain-watcher.ts";
import { DomainManager } from "./domain-manager.ts";
import type { DomainManagerOptions } from "./domain-manager-options.ts";
import { domainName } from "./guest-domain.ts";

/**
 * Creates the manager of one guest. It begins to watch the guest's domain, which need not exist,
 * and does nothing else until it is asked.
 *
 * Rejects with a `DomainManagerError` or `LibvirtError` if libvirt does not answer.
 */
export async function createDomainManager(options: DomainManagerOptions): Promise<DomainManager> {
  const { libvirt, agentLibvirt = libvirt, identity, clock = realClock, qemuLog } = options;
  const watcher = await watchDomain({
    libvirt,
    agentLibvirt,
    name: domainName(identity),
    clock,
    log: options.log,
    metrics: options.metrics,
    ...(qemuLog === undefined ? {} : { qemuLog }),
  });
  return new DomainManager(options, watcher);
}
