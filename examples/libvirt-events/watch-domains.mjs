import { isLibvirtError } from "@virtkit/domain-manager/libvirt";

/** @typedef {import("@virtkit/domain-manager/libvirt").Libvirt} Libvirt */
/** @typedef {import("@virtkit/domain-manager/libvirt").DomainRef} DomainRef */

/**
 * Yields the states of all domains by name: initially, and after each change. It registers before it lists, so
 * that what happens in between is seen twice rather than never.
 *
 * @param {Pick<Libvirt, "call" | "subscribe">} libvirt
 * @returns {AsyncGenerator<ReadonlyMap<string, string | number>>}
 */
export async function* watchDomains(libvirt) {
  const events = await libvirt.subscribe(["lifecycle"]);
  let states = await listStates(libvirt);
  yield states;
  for await (const event of events) {
    if (event.type === "lifecycle") {
      states = new Map(states);
      const state = await stateOf(libvirt, event.dom);
      if (state === undefined) states.delete(event.dom.name);
      else states.set(event.dom.name, state);
    } else {
      // "resync" after a reconnect, "dropped" after a pause on our side: only the daemon knows the truth.
      states = await listStates(libvirt);
    }
    yield states;
  }
}

/** @param {Pick<Libvirt, "call">} libvirt */
async function listStates(libvirt) {
  const { domains } = await libvirt.call("connectListAllDomains", { needResults: true });
  const states = new Map();
  for (const dom of domains) {
    const state = await stateOf(libvirt, dom);
    if (state !== undefined) states.set(dom.name, state);
  }
  return states;
}

/** A domain that is gone by now has no state. @param {Pick<Libvirt, "call">} libvirt @param {DomainRef} dom */
async function stateOf(libvirt, dom) {
  try {
    return (await libvirt.call("domainGetState", { dom })).state;
  } catch (error) {
    if (isLibvirtError(error, "noDomain")) return undefined;
    throw error;
  }
}
