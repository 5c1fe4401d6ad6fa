import { LibvirtError } from "@virtkit/domain-manager/libvirt";
import { expect, test } from "vitest";
import { watchDomains } from "./watch-domains.mjs";

const domain = (name: string) => ({ name, uuid: "6695eb01-f6a4-8304-79aa-97f2502e193f", id: 1 });

/** A daemon whose domains are in a map, and whose events are given. */
function stub(states: Map<string, string>, events: readonly object[]) {
  return {
    subscribe: async () => events,
    call: async (name: string, args: { dom?: { name: string } }) => {
      if (name === "connectListAllDomains") return { domains: [...states.keys()].map(domain) };
      const state = states.get(args.dom?.name ?? "");
      if (state) return { state, reason: 0 };
      const error = { code: 42, domain: 10, level: 2, message: "gone" };
      throw LibvirtError.fromRemote(name, error);
    },
  };
}

test("the list follows the events, and is read again when something may have been missed", async () => {
  const states = new Map([["a", "running"]]);
  const lifecycle = (name: string) => ({ type: "lifecycle", dom: domain(name) });
  const events = [lifecycle("b"), lifecycle("a"), { type: "resync" }];
  const libvirt = stub(states, events) as unknown as Parameters<typeof watchDomains>[0];
  const seen: object[] = [];
  const changes = [
    () => states.set("b", "paused"),
    () => states.delete("a"),
    () => states.set("c", "running"),
  ];
  for await (const list of watchDomains(libvirt)) {
    seen.push(Object.fromEntries(list));
    changes.shift()?.();
  }
  expect(seen).toEqual([
    { a: "running" },
    { a: "running", b: "paused" },
    { b: "paused" },
    { b: "paused", c: "running" },
  ]);
});
