import { LibvirtError } from "../libvirt/libvirt-error.ts";
import type { Caller } from "../manager/guest-domain.ts";

/** What a stub answers: a result, or the number and text of an error. */
export type StubAnswer = object | { readonly error: readonly [code: number, message: string] };

/** A connection that answers from a table and records the calls. */
export function recordedCalls(
  answers: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => StubAnswer>> = {},
): { readonly libvirt: Caller; readonly calls: readonly [string, Record<string, unknown>][] } {
  const calls: [string, Record<string, unknown>][] = [];
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<object> => {
    calls.push([name, args]);
    const answer = answers[name]?.(args) ?? {};
    if (!("error" in answer)) return answer;
    const [code, message] = answer.error as [number, string];
    throw LibvirtError.fromRemote(name, { code, domain: 10, level: 2, message });
  };
  return { libvirt: { call } as unknown as Caller, calls };
}
