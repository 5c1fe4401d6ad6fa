import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Claimed,
  decide,
  decodeGrant,
  encodeGrant,
  freeGrant,
  type Grant,
  type GrantRequest,
  type Holder,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { Flag, ParameterArguments } from "@virtkit/domain-manager/libvirt";
import { guestDomainXml, type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { FileGrantStore } from "@virtkit/node-agent/claims";
import type { MigrationIdentity } from "../handover/index.ts";
import { ChildLauncher } from "./child-launcher.ts";
import { DataProxy, FrameProxy } from "./frame-proxy.ts";
import { acknowledged, counterFaults, counterScript } from "./guest-counter.ts";

const vmiUID = "vmi-1";
export const domain = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" } as const;
const diskBytes = 16 * 1024 * 1024;

/** One node: a sandbox with a network, a state directory and a libvirtd of its own. */
export interface LabNode {
  readonly name: string;
  readonly daemon: Libvirtd;
  /** Between the launcher and its own libvirtd. */
  readonly local: FrameProxy;
  readonly state: string;
}

/** How one move is set up. */
export interface MoveOptions {
  readonly flags?: readonly Flag<"migrate">[];
  readonly params?: ParameterArguments<"migration">;
  readonly holdSource?: readonly string[];
  readonly holdTarget?: readonly string[];
  /** Milliseconds between two looks of a target that has not heard. */
  readonly interval?: number;
  readonly patience?: number;
  /** Whether the guest's user has paused it. */
  readonly paused?: boolean;
  /** What becomes of a guest that has not moved in so many rounds. */
  readonly giveUp?: { readonly iteration: number; readonly how: "abort" | "postCopy" };
}

const baseFlags = ["live", "persistDestination", "changeProtection", "unsafe"] as const;

/** Two nodes, a shared disk, a grant, and a guest that counts. */
export class TwoNodes implements AsyncDisposable {
  readonly nodes: readonly [LabNode, LabNode];
  readonly shared: string;
  readonly #moves: Move[] = [];
  #count = 0;

  private constructor(nodes: readonly [LabNode, LabNode], shared: string) {
    this.nodes = nodes;
    this.shared = shared;
  }

  static async start(): Promise<TwoNodes> {
    const shared = mkdtempSync(join(tmpdir(), "virtkit-mig-"));
    chmodSync(shared, 0o777);
    const [a, b] = await Promise.all([startNode("a"), startNode("b")]);
    return new TwoNodes([a, b], shared);
  }

  get disk(): string {
    return join(this.shared, "disk.raw");
  }

  get store(): FileGrantStore {
    const codec = { encode: encodeGrant, decode: (text: string) => decodeGrant(text, vmiUID) };
    return new FileGrantStore(join(this.shared, "grants"), { codec, empty: freeGrant });
  }

  async grant(): Promise<ReadGrant> {
    return (await this.store.read()).grant;
  }

  /** Asks the rules and swaps, as a controller or an agent does. */
  async change(request: GrantRequest): Promise<Grant> {
    const read = await this.store.read();
    const verdict = decide(read.grant, request);
    if ("refused" in verdict) throw new Error(`the grant: ${verdict.reason}`);
    if (verdict.grant !== read.grant && !(await this.store.swap(read, verdict.grant))) {
      throw new Error("the grant was changed by somebody else");
    }
    return verdict.grant;
  }

  /** Starts the guest anew on the first node, with an empty disk and a new grant. */
  async boot({ memoryMiB = 256 } = {}): Promise<void> {
    await this.wipe();
    writeFileSync(this.disk, Buffer.alloc(diskBytes, " "));
    chmodSync(this.disk, 0o666);
    const [{ daemon }] = this.nodes;
    const holder = holderOn(this.nodes[0], ++this.#count);
    const earlier = { remembered: [], listed: [], live: true };
    const granted = { vmiUID, podUID: holder.podUID, proofs: [], remembered: true, earlier };
    await this.change({ kind: "grant", ...granted });
    await this.change({ kind: "claim", holder });
    const xml = guestDomainXml({
      ...domain,
      guest: await daemon.guest(),
      memoryMiB,
      cmdline: "hb=none",
      serial: `<serial type='file'><source path='${daemon.directory}/serial.log' append='on'/>`,
      // Shareable: QEMU's own lock, which a block device does not have, must not hide a second copy.
      devices: `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${this.disk}'/><target dev='vda' bus='virtio'/><shareable/></disk>`,
    });
    writeFileSync(`${daemon.directory}/domain.xml`, xml);
    await daemon.virsh("define", `${daemon.directory}/domain.xml`);
    await daemon.virsh("start", domain.name);
    await this.inGuest(this.nodes[0], `setsid sh -c '${counterScript}' >/dev/null 2>&1 &`);
    await this.counting(3);
  }

  /** Runs a command in the guest by its agent, once that answers. */
  async inGuest({ daemon }: LabNode, script: string): Promise<void> {
    const args = { path: "/bin/sh", arg: ["-c", script] };
    const command = JSON.stringify({ execute: "guest-exec", arguments: args });
    await patiently("the guest's agent answers", async () => {
      await daemon.virsh(
        "qemu-agent-command",
        "--timeout",
        "5",
        domain.name,
        '{"execute":"guest-ping"}',
      );
      await daemon.virsh("qemu-agent-command", "--timeout", "5", domain.name, command);
      return true;
    });
  }

  log(node: LabNode): string {
    try {
      return readFileSync(join(node.daemon.directory, "serial.log"), "latin1");
    } catch {
      // Nobody has run there yet.
      return "";
    }
  }

  /** Counts that were acknowledged so far, on both nodes. */
  get counts(): number {
    return this.nodes.reduce((sum, node) => sum + acknowledged(this.log(node)).length, 0);
  }

  /** Waits until the guest has counted on. */
  async counting(more = 2): Promise<void> {
    const from = this.counts;
    await patiently("the guest counts on", async () => this.counts >= from + more);
  }

  faults(): readonly string[] {
    return counterFaults(
      this.nodes.map((node) => this.log(node)),
      this.disk,
    );
  }

  /** As `running (booted)`; `absent` where libvirt knows no domain. */
  async state({ daemon }: LabNode): Promise<string> {
    try {
      return await daemon.virsh("domstate", domain.name, "--reason");
    } catch (error) {
      if (/failed to get domain|no domain/i.test(String(error))) return "absent";
      throw error;
    }
  }

  /** The nodes on which the guest's vCPUs run. */
  async running(): Promise<readonly LabNode[]> {
    const states = await Promise.all(this.nodes.map((node) => this.state(node)));
    return this.nodes.filter((_, index) => states[index]?.startsWith("running"));
  }

  /** Hands the guest over to the other node: the grant and the links. What the last move left is ended first. */
  async move(options: MoveOptions = {}): Promise<Move> {
    await this.#closeMoves();
    const grant = (await this.grant()) as Claimed;
    const index = this.nodes.findIndex(({ name }) => name === grant.holder.node);
    const [source, target] = index === 1 ? [this.nodes[1], this.nodes[0]] : this.nodes;
    const number = ++this.#count;
    const migrationUID = `m-${number}-${randomUUID().slice(0, 8)}`;
    const to = holderOn(target, number);
    const asked = { target: to, migrationUID, remembered: true, sourceRuns: true } as const;
    const { epoch, seq } = await this.change({ kind: "handOver", ...asked });
    const identity = { migrationUID, vmiUID, epoch, seq };
    const move = new Move(this, {
      source,
      target,
      from: grant.holder,
      to,
      identity,
      number,
      options,
    });
    this.#moves.push(move);
    return move;
  }

  /** Ends all copies, launchers and links, and forgets the grant. */
  async wipe(): Promise<void> {
    await this.#closeMoves();
    for (const { daemon, local, state } of this.nodes) {
      local.rule = () => "pass";
      local.refuse = false;
      for (const verb of ["destroy", "undefine"]) {
        await daemon.virsh(verb, domain.name).catch(() => {});
      }
      for (const path of [`${daemon.directory}/serial.log`, state]) {
        rmSync(path, { recursive: true, force: true });
      }
    }
    rmSync(join(this.shared, "grants"), { recursive: true, force: true });
  }

  async #closeMoves(): Promise<void> {
    for (const move of this.#moves.splice(0)) await move.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closeMoves();
    for (const { daemon, local } of this.nodes) {
      local.close();
      await daemon[Symbol.asyncDispose]();
    }
    rmSync(this.shared, { recursive: true, force: true });
  }
}

interface MoveParts {
  readonly source: LabNode;
  readonly target: LabNode;
  readonly from: Holder;
  readonly to: Holder;
  readonly identity: MigrationIdentity;
  readonly number: number;
  readonly options: MoveOptions;
}

/** One move: its links, and the launchers of both sides in all their lives. */
export class Move {
  readonly source: LabNode;
  readonly target: LabNode;
  readonly identity: MigrationIdentity;
  /** From the source to the target, from the target to the source, and the guest's memory. */
  readonly control: FrameProxy;
  readonly ask: FrameProxy;
  readonly data: DataProxy;
  readonly #nodes: TwoNodes;
  readonly #parts: MoveParts;
  readonly #launchers: ChildLauncher[] = [];
  #lives = 0;

  constructor(nodes: TwoNodes, parts: MoveParts) {
    this.#nodes = nodes;
    this.#parts = parts;
    const { source, target, number } = parts;
    this.source = source;
    this.target = target;
    this.identity = parts.identity;
    const at = (node: LabNode, name: string): string => `${node.daemon.directory}/${name}${number}`;
    this.control = FrameProxy.control(at(source, "ctl"), at(target, "t"));
    this.ask = FrameProxy.control(at(target, "ask"), at(source, "s"));
    this.data = new DataProxy(at(source, "out"), at(target, "in"));
  }

  /** Starts the target's launcher, or starts it again. */
  async receive(mode: "receive" | "settleTarget" = "receive"): Promise<ChildLauncher> {
    const { target, to, number, options } = this.#parts;
    const dir = target.daemon.directory;
    rmSync(`${dir}/t${number}`, { force: true });
    return await this.#start(target, {
      ...{ mode, holder: to, holdAt: this.#lives < 2 ? (options.holdTarget ?? []) : [] },
      ...{ serve: `${dir}/t${number}`, peer: `${dir}/ask${number}` },
      ...{ listen: `unix://${dir}/in${number}`, interval: options.interval },
    });
  }

  /** Starts the source's launcher, which drives; or starts it again, to settle. */
  async drive(
    mode: "drive" | "settleSource" | "recover" = "drive",
    params: ParameterArguments<"migration"> = {},
  ): Promise<ChildLauncher> {
    const { source, target, from, number, options } = this.#parts;
    const dir = source.daemon.directory;
    rmSync(`${dir}/s${number}`, { force: true });
    return await this.#start(source, {
      ...{ mode, holder: from, holdAt: mode === "drive" ? (options.holdSource ?? []) : [] },
      ...{
        serve: `${dir}/s${number}`,
        peer: `${dir}/ctl${number}`,
        patience: options.patience ?? 5_000,
      },
      ...{ paused: options.paused ?? false, giveUp: options.giveUp },
      flags: [...baseFlags, ...(options.flags ?? [])],
      params: { migrate_uri: `unix://${dir}/out${number}`, ...options.params, ...params },
      ...{ here: dir, there: target.daemon.directory },
    });
  }

  /** Both launchers, with nothing in their way. */
  async run(): Promise<{ readonly source: ChildLauncher; readonly target: ChildLauncher }> {
    const target = await this.receive();
    return { target, source: await this.drive() };
  }

  async close(): Promise<void> {
    for (const launcher of this.#launchers) await launcher.kill();
    for (const proxy of [this.control, this.ask, this.data]) proxy.close();
  }

  async #start(node: LabNode, config: object): Promise<ChildLauncher> {
    this.#lives++;
    const { identity } = this;
    const launcher = await ChildLauncher.start({
      ...config,
      ...{ identity, domain, state: node.state, grants: join(this.#nodes.shared, "grants") },
      libvirt: `qemu+unix:///session?socket=${node.daemon.directory}/lv`,
    });
    this.#launchers.push(launcher);
    return launcher;
  }
}

async function startNode(name: string): Promise<LabNode> {
  const daemon = await startLibvirtd({ hostname: `node-${name}` });
  const state = join(daemon.directory, "state");
  mkdirSync(state);
  return {
    name,
    daemon,
    state,
    local: FrameProxy.libvirt(`${daemon.directory}/lv`, daemon.socket),
  };
}

function holderOn({ name }: LabNode, number: number): Holder {
  const id = `${name}-${number}`;
  return {
    ...{ podUID: `pod-${id}`, containerID: `container-${id}`, nonce: `nonce-${id}` },
    ...{ node: name, machineID: `machine-${name}`, bootID: `boot-${name}` },
  };
}

/** Waits for a condition; what it throws counts as not yet. */
export async function patiently(
  what: string,
  condition: () => Promise<boolean>,
  seconds = 90,
): Promise<void> {
  const end = Date.now() + seconds * 1_000;
  let last: unknown;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`not in ${seconds} s: ${what}`, { cause: last });
    await sleep(50);
  }
}
