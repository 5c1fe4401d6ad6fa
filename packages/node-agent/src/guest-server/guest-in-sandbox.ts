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
  /** Undefined where this process has not claimed or confirmed the run grant. */
  readonly mayRun: MayRun | undefined;
}

/** Milliseconds that a launcher has to take a connection: it has been ready for long. */
const patience = 5_000;

/** One connection for all requests to a guest, as long as its sandbox is held: a flood of them opens no second one. */
const connections = new WeakMap<Sandbox, Promise<LauncherClient>>();

/** A guest for the guest server, by its sandbox: its launcher is reached when something is asked of it. */
export function guestInSandbox({ vmi, sandbox, mayRun }: GuestInSandbox): ServedGuest {
  return {
    vmi,
    ...(sandbox ? { sandbox } : {}),
    launcher: async () => {
      if (sandbox) return await connected(vmi, sandbox);
      const message = "no launcher of the VMI is known on this node; try again";
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
  // Whoever asked is told of the failure; the next one tries anew.
  connecting.then((client) => client.closed).then(forget, forget);
  return connecting;
}
