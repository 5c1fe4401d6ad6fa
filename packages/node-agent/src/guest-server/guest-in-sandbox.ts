import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { MayRun } from "@virtkit/domain-manager";
import type { LauncherClient } from "@virtkit/launcher/client";
import { NodeAgentError } from "../node-agent-error.ts";
import { reachLauncher } from "../run/reach-launcher.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ServedGuest } from "./served-guest.ts";

/** A guest as a node agent holds it. */
export interface GuestInSandbox {
  readonly vmi: VirtualMachineInstance;
  /** Undefined while its launcher is not found. */
  readonly sandbox: Sandbox | undefined;
  /** Undefined if this process has not claimed or confirmed the run grant. */
  readonly mayRun: MayRun | undefined;
}

/** Milliseconds for a launcher to accept a connection: it has long been ready. */
const patience = 5_000;

/**
 * One connection for all requests to a guest, as long as its sandbox is held: a flood of requests opens no second
 * one.
 */
const connections = new WeakMap<Sandbox, Promise<LauncherClient>>();

/** A guest for the guest server, by its sandbox: its launcher is contacted when a request arrives. */
export function guestInSandbox({ vmi, sandbox, mayRun }: GuestInSandbox): ServedGuest {
  return {
    vmi,
    ...(sandbox ? { sandbox } : {}),
    launcher: async () => {
      if (sandbox) return await connected(vmi, sandbox);
      const message = "this node knows of no launcher for the VMI; try again";
      throw new NodeAgentError("AGENT_LAUNCHER", message, { path: "sandbox" });
    },
    mayRun: async () => {
      if (mayRun) return mayRun;
      const message = "this node has not claimed the run grant of the VMI; try again";
      throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: "mayRun" });
    },
  };
}

function connected(vmi: VirtualMachineInstance, sandbox: Sandbox): Promise<LauncherClient> {
  const known = connections.get(sandbox);
  if (known) return known;
  const connecting = reachLauncher(vmi, sandbox, { readyTimeout: patience });
  connections.set(sandbox, connecting);
  const forget = (): void => {
    if (connections.get(sandbox) === connecting) connections.delete(sandbox);
  };
  // The caller learns about the failure; the next one tries again.
  connecting.then((client) => client.closed).then(forget, forget);
  return connecting;
}
