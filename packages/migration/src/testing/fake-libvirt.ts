import { type Arguments, LibvirtError, type ProcedureName } from "@virtkit/domain-manager/libvirt";
import type { Caller } from "../copy/copy-state.ts";

/** The answer of a procedure; a function may read the arguments, change the state, or throw. */
export type Answers = {
  readonly [Name in ProcedureName]?: (args: Arguments<Name>) => unknown;
};

const numbers: Readonly<Record<string, readonly [number, number]>> = {
  "running (booted)": [1, 1],
  "running (postcopy)": [1, 10],
  "running (postcopyFailed)": [1, 11],
  "running (migrated)": [1, 2],
  "paused (user)": [3, 1],
  "paused (migration)": [3, 2],
  "paused (ioError)": [3, 5],
  "paused (postcopy)": [3, 12],
  "paused (postcopyFailed)": [3, 13],
  "shutoff (migrated)": [5, 4],
};
const states = ["noState", "running", "blocked", "paused", "shutdown", "shutoff"];

/** A libvirt with one domain, whose state a test sets. It records its calls. */
export class FakeLibvirt implements Caller {
  readonly calls: string[] = [];
  state: keyof typeof numbers | "absent" | "dead";
  readonly #answers: Answers;
  readonly #dom = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223", id: 1 };

  constructor(state: FakeLibvirt["state"], answers: Answers = {}) {
    this.state = state;
    this.#answers = answers;
  }

  /** The calls that change something. */
  get changes(): readonly string[] {
    return this.calls.filter((name) => !/Lookup|GetState|GetJob/.test(name));
  }

  readonly call = (async (name: ProcedureName, args: unknown) => {
    this.calls.push(name);
    if (this.state === "dead") throw new LibvirtError("LIBVIRT_CLOSED", "the connection is lost");
    const answer = this.#answers[name] as ((given: unknown) => unknown) | undefined;
    if (answer) return await answer(args);
    if (this.state === "absent") throw remote(42, "no domain");
    const [state = 0, reason = 0] = numbers[this.state] ?? [];
    switch (name) {
      case "domainLookupByUuid":
        return { dom: this.#dom };
      case "domainGetState":
        return { state: states[state], reason };
      case "domainGetJobStats":
        return { type: "none", params: {} };
      case "domainMigrateBegin":
        return { cookie: new Uint8Array(), xml: domainXml };
      case "domainMigrateConfirm":
        return {};
      default:
        return { cookie: new Uint8Array() };
    }
  }) as Caller["call"];
}

/** An error as the daemon sends it. */
export function remote(code: number, message: string): LibvirtError {
  return LibvirtError.fromRemote("x", { code, domain: 10, level: 2, message });
}

/** The smallest possible domain. */
export const domainXml =
  "<domain type='kvm'><name>vm1</name><uuid>5d307ca9-b3ef-428c-8861-06e72d69f223</uuid></domain>";
