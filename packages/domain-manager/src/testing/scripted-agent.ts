import type { Clock } from "@virtkit/api/clock";
import { GuestAgent } from "../agent/guest-agent.ts";
import { LibvirtError } from "../libvirt/libvirt-error.ts";

/** The answer to a command: the value of `return`, the whole text of a reply, or an error. */
export type ScriptedReply = { readonly text: string } | { readonly value: unknown } | Error;

/** An agent that answers from a table, and what it was asked. */
export interface ScriptedAgent {
  readonly agent: GuestAgent;
  readonly asked: [command: string, args: unknown][];
}

const dom = { name: "ns_vm", uuid: "00000000-0000-4000-8000-000000000000", id: 1 };

/**
 * An agent behind a connection that is only a table. The guest does not know commands that are not
 * in it.
 */
export function scriptedAgent(
  replies: Readonly<Record<string, ScriptedReply | (() => ScriptedReply)>>,
  clock: Clock = fastClock(),
): ScriptedAgent {
  const asked: [string, unknown][] = [];
  const call = async (name: string, { command }: { command?: string } = {}): Promise<object> => {
    const { execute, arguments: args } =
      command === undefined
        ? { execute: name, arguments: undefined }
        : (JSON.parse(command) as { execute: string; arguments?: unknown });
    asked.push([execute, args]);
    const scripted = replies[execute];
    const reply = typeof scripted === "function" ? scripted() : (scripted ?? unknown(execute));
    if (reply instanceof Error) throw reply;
    if (command === undefined) return "value" in reply ? (reply.value as object) : {};
    return { result: "text" in reply ? reply.text : JSON.stringify({ return: reply.value }) };
  };
  return { agent: new GuestAgent({ libvirt: { call: call as never }, dom, clock }), asked };
}

/** What libvirt answers for a command that failed in the guest. */
export function agentRefusal(message: string, code = 1): LibvirtError {
  return LibvirtError.fromRemote("qemuAgentCommand", { code, domain: 10, level: 2, message });
}

function unknown(execute: string): LibvirtError {
  return agentRefusal(`The command ${execute} has not been found`);
}

/** A clock on which a wait takes no time, but is counted. */
export function fastClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    setTimeout: (callback, milliseconds) => {
      now += milliseconds;
      queueMicrotask(callback);
      return undefined;
    },
    clearTimeout: () => {},
  };
}
