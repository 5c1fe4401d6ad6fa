import { rmSync, statSync } from "node:fs";
import { until } from "@virtkit/api/clock";
import type { Claimed, Grant } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import type { MigrationCheckContext, MigrationCheckSide } from "@virtkit/testing/hypervisor/checks";
import { FrameProxy } from "../../../migration/src/testing/frame-proxy.ts";
import { LauncherMigrations } from "../migration/launcher-migrations.ts";
import type { ReceiveRequest } from "../migration/migration-verbs.ts";
import { BreakableStream } from "./breakable-stream.ts";
import { claimedOn, holderOn } from "./joined-move.ts";
import { domain, inGuest, type JoinedNode, type JoinedNodes } from "./joined-nodes.ts";

const { vmiUID } = claimedOn("a");
const vmi: VirtualMachineInstance = {
  metadata: { name: "vm", namespace: "ns", uid: vmiUID },
  spec: { domain: { devices: {}, memory: { guest: "256Mi" } } },
  status: { migrationState: {} },
};

/** What the guest writes to its console again and again, for two minutes. */
const beat = "beat";
const beating = `setsid sh -c 'for i in $(seq 600); do echo ${beat} > /dev/ttyS0; sleep 0.2; done' >/dev/null 2>&1 &`;

/** Two real launchers on real libvirts, for one check after another: each check starts where the guest is. */
export class CheckedLaunchers implements AsyncDisposable {
  readonly #joined: JoinedNodes;
  #grant: Grant = claimedOn("a");
  #number = 0;
  #open: (() => unknown)[] = [];

  constructor(joined: JoinedNodes) {
    this.#joined = joined;
  }

  /** The environment of the next check. Closes what the last one left open. */
  async next(): Promise<MigrationCheckContext> {
    await this[Symbol.asyncDispose]();
    const number = ++this.#number;
    const grant = this.#grant as Claimed;
    const { both } = this.#joined;
    const [from, to] = grant.holder.node === "a" ? both : ([both[1], both[0]] as const);
    const [leaving, receiving] = [this.#launcherOn(from), this.#launcherOn(to)];
    const at = ({ daemon }: JoinedNode, name: string): string => {
      const path = `${daemon.directory}/${name}${number}`;
      rmSync(path, { force: true });
      return path;
    };
    const [out, into] = [at(from, "out"), at(to, "in")];
    const [serve, answers, peer] = [at(to, "t"), at(from, "s"), at(from, "p")];
    const stream = await BreakableStream.open(out, into);
    this.#open.push(() => stream[Symbol.dispose]());
    const control = FrameProxy.control(peer, serve);
    this.#open.push(() => control.close());
    const source: MigrationCheckSide = {
      ...{ verbs: leaving, holder: grant.holder, state: () => stateOn(from) },
    };
    const target: MigrationCheckSide = {
      ...{ verbs: receiving, holder: holderOn(to.name, number), state: () => stateOn(to) },
    };
    return {
      ...{ source, target, grant, migrationUID: `check-${number}` },
      noteGrant: (after) => {
        this.#grant = after;
      },
      async begin(migration, options) {
        await receiving.receiveMigration({
          ...{ migration, holder: target.holder, domain: domain.uuid, listen: `unix://${into}` },
          guest: { vmi, context: {} as ReceiveRequest["guest"]["context"] },
          ...{ serve, peer: answers },
        });
        if (options.allowPostCopy) await inGuest(from, beating);
        await leaving.migrate({
          ...{ migration, holder: source.holder, vmi, options, serve: answers, peer },
          uris: { memory: `unix://${out}`, disks: "" },
        });
      },
      async dirty(isOn) {
        await inGuest(
          from,
          isOn ? "setsid dirty 32 >/dev/null 2>&1 &" : "killall dirty || pkill dirty",
        );
      },
      async pause(isPaused) {
        const here = (await stateOn(from)) === "ended" ? to : from;
        await here.daemon.virsh(isPaused ? "suspend" : "resume", domain.name);
      },
      breakStream: async () => stream.break(),
      blockStream: async (isBlocked) => await stream.block(isBlocked),
      slowStream: (isSlow) => {
        stream.limit = isSlow ? 4 * 2 ** 20 : Number.POSITIVE_INFINITY;
      },
      async untilAlive() {
        // If it breaks sooner, a device may wait for a page and hold QEMU's lock, and QEMU 7.2 no longer answers.
        const size = (): number => statSync(`${to.daemon.directory}/serial.log`).size;
        const enough = size() + 5 * beat.length;
        if (await until(() => size() >= enough, { interval: 50, timeout: 60_000 })) return;
        throw new Error("the guest did nothing at the target in 60 s");
      },
      loseReply: (message) => {
        control.rule = ({ direction, name }) => {
          if (direction !== "reply" || name !== message) return "pass";
          control.rule = () => "pass";
          return "drop";
        };
      },
      async until(holds) {
        if (await until(holds, { interval: 50, timeout: 60_000 })) return;
        throw new Error("this did not happen within 60 s");
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#open.splice(0)) await close();
  }

  #launcherOn({ daemon, definition }: JoinedNode): LauncherMigrations {
    const launcher = new LauncherMigrations({
      ...{ vmiUID, domain: domain.name, directory: `${daemon.directory}/state` },
      connect: () => connectLibvirt({ uri: daemon.uri }),
      prepareGuest: async () => ({ domain: parseDomain(definition), complete: async () => {} }),
    });
    this.#open.push(() => launcher[Symbol.asyncDispose]());
    return launcher;
  }
}

async function stateOn({ daemon }: JoinedNode): Promise<"running" | "paused" | "ended"> {
  const found = await daemon.virsh("list", "--name");
  if (!found.includes(domain.name)) return "ended";
  const state = await daemon.virsh("domstate", domain.name);
  return state === "running" ? "running" : state === "paused" ? "paused" : "ended";
}
