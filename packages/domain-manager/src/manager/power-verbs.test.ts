import { expect, test } from "vitest";
import { DomainManagerError } from "../domain-manager-error.ts";
import { LibvirtError } from "../libvirt/libvirt-error.ts";
import type { GuestSession } from "./guest-session.ts";
import { shutDownGuest } from "./power-verbs.ts";
import type { VerbCall } from "./verb-queue.ts";

/** Asks a running guest to shut down; returns which of libvirt's calls that made. */
async function asked(codeName: string | undefined): Promise<string[]> {
  const calls: string[] = [];
  const call = async (name: string): Promise<object> => {
    calls.push(name);
    if (name === "domainLookupByName") return { dom: { name: "default_vm", uuid: "", id: 1 } };
    return name === "domainGetState" ? { state: "running", reason: 1 } : {};
  };
  const session = { libvirt: { call }, name: "default_vm" } as unknown as GuestSession;
  const agent = {
    ping: async () => {},
    reboot: async () => {},
    shutdown: async () => {
      if (codeName === undefined) return;
      const remote = { code: 1, codeName, message: "no" } as never;
      const cause = new LibvirtError("LIBVIRT_REMOTE", "no", { remote });
      throw new DomainManagerError("DOMAIN_AGENT", "no", { cause });
    },
  };
  const { signal } = new AbortController();
  await shutDownGuest(session, () => agent, { signal } as VerbCall);
  return calls.slice(2);
}

test("an agent that obeys is asked alone, also one that is gone before it answers", async () => {
  expect(await asked(undefined)).toEqual([]);
  expect(await asked("agentUnresponsive")).toEqual([]);
});

test("where an agent refuses to shut down its guest the power button is pressed", async () => {
  expect(await asked("agentCommandFailed")).toEqual(["domainShutdown"]);
  expect(await asked("internalError")).toEqual(["domainShutdown"]);
});
