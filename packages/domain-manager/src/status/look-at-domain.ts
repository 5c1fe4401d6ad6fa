import { isConverterError } from "@virtkit/converter";
import type { Libvirt } from "../libvirt/libvirt.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import { type DomainFacts, readDomainFacts } from "./domain-facts.ts";
import type { GuestFact } from "./guest-record.ts";
import { domainReason, domainState } from "./state-names.ts";

/**
 * Asks libvirt for its complete part of a status. Rejects with a `LibvirtError` if it does not answer.
 */
export async function lookAtDomain(
  libvirt: Pick<Libvirt, "call">,
  name: string,
  options: CallOptions,
): Promise<Extract<GuestFact, { kind: "domain" | "absent" }>> {
  try {
    const { dom } = await libvirt.call("domainLookupByName", { name }, options);
    const { xml } = await libvirt.call("domainGetXmlDesc", { dom }, options);
    // After the XML: an event reports a change in between, and leads to another look.
    const { state, reason } = await libvirt.call("domainGetState", { dom }, options);
    return {
      kind: "domain",
      uuid: dom.uuid,
      id: dom.id,
      state: domainState(state),
      reason: domainReason(state, reason),
      facts: factsOf(xml),
    };
  } catch (error) {
    if (isLibvirtError(error, "noDomain")) return { kind: "absent" };
    throw error;
  }
}

/** A domain whose description cannot be read still has a state, which matters more. */
function factsOf(xml: string): DomainFacts {
  try {
    return readDomainFacts(xml);
  } catch (error) {
    if (!isConverterError(error)) throw error;
    return { agent: "disconnected", disks: [], interfaces: [] };
  }
}
