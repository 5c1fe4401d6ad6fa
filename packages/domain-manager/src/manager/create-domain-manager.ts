import { realClock } from "@virtkit/api/clock";
import { watchDomain } from "../status/domain-watcher.ts";
import { DomainManager } from "./domain-manager.ts";
import type { DomainManagerOptions } from "./domain-manager-options.ts";
import { domainName } from "./guest-domain.ts";

/**
 * Makes the manager of one guest: begins to watch its domain, which need not be there, and does nothing else
 * until it is asked.
 *
 * Rejects with a `DomainManagerError` or `LibvirtError` where libvirt does not answer.
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
