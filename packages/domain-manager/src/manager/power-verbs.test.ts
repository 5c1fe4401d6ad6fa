import { expect, test } from "vitest";
import { DomainManagerError } from "../domain-manager-error.ts";
import { LibvirtError } from "../libvirt/libvirt-error.ts";
import type { GuestSession } from "./guest-session.ts";
import { pauseGuest, shutDownGuest } from "./power-verbs.ts";
import type { VerbCall } from "./verb-queue.ts";

/** A running guest, and the libvirt calls that were made after it was found. */
function running(metadata = "") {
  const calls: string[] = [];
  const call = async (name: string): Promise<object> => {
    if (name === "domainLookupByName") return { dom: { name: "default_vm", uuid: "", id: 1 } };
    if (name === "domainGetState") return { state: "running", reason: 1 };
    calls.push(name);
    return { metadata };
  };
  const identity = { namespace: "default", name: "vm", vmiUid: "vmi", podUid: "pod" };
  const session = { libvirt: { call }, name: "default_vm", identity } as unknown as GuestSession;
  const { signal } = new AbortController();
  return { calls, session, verb: { signal } as VerbCall };
}

/** Asks a running guest to shut down; returns the resulting libvirt calls. */
async function asked(codeName: string | undefined): Promise<string[]> {
  const { calls, session, verb } = running();
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
  await shutDownGuest(session, () => agent, verb);
  return calls;
}

test("asks only an agent that complies, even one that is gone before it answers", async () => {
  expect(await asked(undefined)).toEqual([]);
  expect(await asked("agentUnresponsive")).toEqual([]);
});

test("presses the power button if the agent refuses to shut down its guest", async () => {
  expect(await asked("agentCommandFailed")).toEqual(["domainShutdown"]);
  expect(await asked("internalError")).toEqual(["domainShutdown"]);
});

test.each([
  ['<run vmi="vmi"/>', ["domainGetMetadata", "domainSuspend"]],
  ['<run vmi="vmi" waits="yes"/>', ["domainGetMetadata", "domainSetMetadata", "domainSuspend"]],
  ["", ["domainGetMetadata", "domainSetMetadata", "domainSuspend"]],
])("records before a pause that no sync resumes the guest: %s", async (metadata, calls) => {
  const guest = running(metadata);
  await pauseGuest(guest.session, guest.verb);
  expect(guest.calls).toEqual(calls);
});
