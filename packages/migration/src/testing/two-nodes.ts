import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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
  type ProofOfEnd,
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

/** One node: a sandbox with its own network, state directory and libvirtd. */
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
  /** Milliseconds between two checks of a target that has received nothing. */
  readonly interval?: number;
  /** Milliseconds that the source waits for an answer, from the moment on at which time passes for it. */
  readonly patience?: number;
  /** Whether the guest's user has paused it. */
  readonly paused?: boolean;
  /** What happens to a guest that has not moved after this many rounds. */
  readonly giveUp?: { readonly iteration: number; readonly how: "abort" | "postCopy" };
}

const baseFlags = ["live", "persistDestination", "changeProtection", "unsafe"] as const;

/** Two nodes, a shared disk, a grant, and a guest that counts. */
export class TwoNodes implements AsyncDisposable {
  readonly nodes: readonly [LabNode, LabNode];
  readonly shared: string;
  readonly #moves: Move[] = [];
  /** Crashes after which a daemon was started again. */
  readonly #revived = new Map<LabNode, number>();
  #count = 0;
  /** Whether each node has its own disk, and the content is copied, too. */
  #copies = false;

  private constructor(nodes: readonly [LabNode, LabNode], shared: string) {
    this.nodes = nodes;
    this.shared = shared;
  }

  /** `network` gives the path of the network namespace that a node's libvirtd joins; by default each has an empty one. */
  static async start(network?: (node: "a" | "b") => string): Promise<TwoNodes> {
    const shared = mkdtempSync(join(tmpdir(), "virtkit-mig-"));
    chmodSync(shared, 0o777);
    const start = (name: "a" | "b"): Promise<LabNode> => startNode(name, network?.(name));
    const [a, b] = await Promise.all([start("a"), start("b")]);
    return new TwoNodes([a, b], shared);
  }

  get disk(): string {
    return join(this.shared, "disk.raw");
  }

  /** The disk as a node has it. */
  diskOf({ daemon }: LabNode): string {
    return this.#copies ? join(daemon.directory, "disk.raw") : this.disk;
  }

  get copies(): boolean {
    return this.#copies;
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

  /** Starts the guest again on the first node, with an empty disk and a new grant. */
  async boot({ memoryMiB = 256, devices = "", copies = false } = {}): Promise<void> {
    await this.wipe();
    this.#copies = copies;
    const [{ daemon }] = this.nodes;
    const disk = this.diskOf(this.nodes[0]);
    writeFileSync(disk, Buffer.alloc(diskBytes, " "));
    chmodSync(disk, 0o666);
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
      devices: `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${disk}'/><target dev='vda' bus='virtio'/>${copies ? "" : "<shareable/>"}</disk>${devices}`,
    });
    writeFileSync(`${daemon.directory}/domain.xml`, xml);
    await daemon.virsh("define", `${daemon.directory}/domain.xml`);
    await daemon.virsh("start", domain.name);
    await this.inGuest(this.nodes[0], `setsid sh -c '${counterScript}' >/dev/null 2>&1 &`);
    await this.counting(3);
  }

  /** Runs a command in the guest through its agent, and returns its output. Rejects if it fails. */
  async askGuest({ daemon }: LabNode, script: string): Promise<string> {
    const call = async (execute: string, args: object): Promise<Record<string, unknown>> => {
      const command = JSON.stringify({ execute, arguments: args });
      const options = ["--timeout", "60", domain.name, command];
      return JSON.parse(await daemon.virsh("qemu-agent-command", ...options)).return;
    };
    const program = { path: "/bin/sh", arg: ["-c", `${script} 2>&1`], "capture-output": true };
    const { pid } = await call("guest-exec", program);
    let status: Record<string, unknown> = {};
    await patiently("the command in the guest ends", async () => {
      status = await call("guest-exec-status", { pid });
      return status["exited"] === true;
    });
    const output = Buffer.from(String(status["out-data"] ?? ""), "base64").toString();
    if (status["exitcode"] !== 0) throw new Error(`${script}: ${status["exitcode"]}, ${output}`);
    return output;
  }

  /** Runs a command in the guest through its agent, once the agent answers. */
  async inGuest({ daemon }: LabNode, script: string): Promise<void> {
    const args = { path: "/bin/sh", arg: ["-c", script] };
    const command = JSON.stringify({ execute: "guest-exec", arguments: args });
    const ask = async (seconds: string, what: string): Promise<string> =>
      await daemon.virsh("qemu-agent-command", "--timeout", seconds, domain.name, what);
    await patiently("the guest's agent answers", async () => {
      await ask("5", '{"execute":"guest-ping"}');
      return true;
    });
    // Once: what is asked again because its answer is late runs twice.
    await ask("60", command);
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

  /** Waits until the guest has counted further. */
  async counting(more = 2): Promise<void> {
    const from = this.counts;
    await patiently("the guest keeps counting", async () => this.counts >= from + more);
  }

  /** What is wrong with the counts, by the disk of the node on which the guest is. */
  faults(node: LabNode = this.nodes[0]): readonly string[] {
    return counterFaults(
      this.nodes.map((each) => this.log(each)),
      this.diskOf(node),
    );
  }

  /** For example `running (booted)`; `absent` if libvirt knows no domain. */
  async state({ daemon }: LabNode): Promise<string> {
    try {
      return await daemon.virsh("domstate", domain.name, "--reason");
    } catch (error) {
      if (/failed to get domain|no domain/i.test(String(error))) return "absent";
      throw error;
    }
  }

  /** The nodes on which the guest's vCPUs run; a copy that will never get its memory does not count. */
  async running(): Promise<readonly LabNode[]> {
    const states = await this.#states();
    return this.nodes.filter((_, index) => {
      const state = states[index] ?? "";
      return state.startsWith("running") && !state.includes("post-copy failed");
    });
  }

  async #states(): Promise<readonly string[]> {
    return await Promise.all(this.nodes.map((node) => this.state(node)));
  }

  /**
   * Whether no copy has or ever will have the whole memory, and the rules are done with it: the target has ended, and the
   * source has ended or waits in a post-copy that failed. Only people end such a source; a target without its source ends by
   * itself.
   */
  async isLost({ source, target }: Move): Promise<boolean> {
    if (!(await this.hasEnded(target))) return false;
    return (await this.hasEnded(source)) || (await this.state(source)).includes("post-copy failed");
  }

  /** Whether the copy of a node has ended, or was never there. */
  async hasEnded(node: LabNode): Promise<boolean> {
    return /^(absent|shut off|crashed)/.test(await this.state(node));
  }

  /** What a controller does about a guest whose memory is lost: ends both copies, proves that, and grants it again. */
  async grantAnew(move: Move): Promise<void> {
    for (const { daemon } of this.nodes) await daemon.virsh("destroy", domain.name).catch(() => {});
    const { containerID, bootID } = move.to;
    const proofs: readonly ProofOfEnd[] = [
      { kind: "processGone", ...move.from, seen: "pidfd" },
      { kind: "processGone", containerID, bootID, seen: "pidfd" },
    ];
    const earlier = { remembered: [], listed: [], live: true };
    const asked = { vmiUID, podUID: `cold-${++this.#count}`, remembered: true, earlier };
    const { grant } = await this.store.read();
    const few = "target" in grant ? proofs.map((proof) => [proof]) : [[]];
    for (const missing of few) {
      const verdict = decide(grant, { kind: "grant", ...asked, proofs: missing });
      if (!("refused" in verdict)) throw new Error("a cold start without proof of both ends");
    }
    await this.change({ kind: "grant", ...asked, proofs });
  }

  /** What a launcher does about a libvirtd that has crashed: it restarts it. */
  async revive(): Promise<void> {
    for (const node of this.nodes) {
      const { daemon } = node;
      const { length } = daemon.crashes;
      if (length === (this.#revived.get(node) ?? 0)) continue;
      this.#revived.set(node, length);
      await daemon.restart();
    }
  }

  /** The state of both nodes, for people. Never rejects, and does not wait for a daemon that hangs. */
  async describe(): Promise<string> {
    const states = this.nodes.map(async (node) => {
      const state = this.state(node).catch((error: unknown) => `unknown: ${error}`);
      const late = sleep(5_000, "unknown: its libvirtd has not answered in 5 s");
      const { crashes } = node.daemon;
      const ended = crashes.length > 0 ? `, its libvirtd has crashed (${crashes.join(", ")})` : "";
      return `${node.name} is ${await Promise.race([state, late])}${ended}`;
    });
    const grant = this.grant().then(
      ({ state }) => state,
      (error: unknown) => String(error),
    );
    return [...(await Promise.all(states)), `the grant is ${await grant}`].join(", ");
  }

  /** Hands the guest over to the other node: the grant and the links. Leftovers of the last move are ended first. */
  async move(options: MoveOptions = {}): Promise<Move> {
    await this.#closeMoves();
    const grant = (await this.grant()) as Claimed;
    const index = this.nodes.findIndex(({ name }) => name === grant.holder.node);
    const [source, target] = index === 1 ? [this.nodes[1], this.nodes[0]] : this.nodes;
    if (this.#copies) {
      // Leftovers of an earlier move belong to nobody.
      writeFileSync(this.diskOf(target), Buffer.alloc(diskBytes));
      chmodSync(this.diskOf(target), 0o666);
    }
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
  readonly from: Holder;
  readonly to: Holder;
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
    this.from = parts.from;
    this.to = parts.to;
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
      ...(this.#nodes.copies && {
        copied: { disks: ["vda"], listen: `unix://${dir}/nbd${number}` },
      }),
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
      flags: [
        ...baseFlags,
        ...(this.#nodes.copies ? ["nonSharedIncremental"] : []),
        ...(options.flags ?? []),
      ],
      params: {
        migrate_uri: `unix://${dir}/out${number}`,
        ...(this.#nodes.copies && {
          migrate_disks: ["vda"],
          disks_uri: `unix://${target.daemon.directory}/nbd${number}`,
        }),
        ...options.params,
        ...params,
      },
      ...{ here: dir, there: target.daemon.directory },
    });
  }

  /** Both launchers, without faults. */
  async run(): Promise<{ readonly source: ChildLauncher; readonly target: ChildLauncher }> {
    const target = await this.receive();
    return { target, source: await this.drive() };
  }

  /** Sends a signal to the QEMU of a node, and to nothing else of it. False if it had ended before. */
  async killQemu({ daemon }: LabNode, signal: "KILL" | "STOP" = "KILL"): Promise<boolean> {
    const file = `${daemon.directory}/run/libvirt/qemu/run/${domain.name}.pid`;
    if (!existsSync(file)) return false;
    const pid = readFileSync(file, "utf8").trim();
    const script = `grep -q qemu-system /proc/${pid}/cmdline && kill -${signal} ${pid}`;
    return await daemon.runAsRoot("sh", "-c", script).then(
      () => true,
      () => false,
    );
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

async function startNode(name: string, path: string | undefined): Promise<LabNode> {
  const network = path === undefined ? {} : { network: { path } };
  const daemon = await startLibvirtd({ hostname: `node-${name}`, ...network });
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

/** Waits for a condition; an error means that it does not hold yet. */
export async function patiently(
  what: string,
  condition: () => Promise<boolean>,
  seconds = 180,
): Promise<void> {
  const end = Date.now() + seconds * 1_000;
  let last: unknown;
  while (Date.now() < end) {
    try {
      // A check that hangs, for example because a daemon does not answer, must not make this wait forever.
      if (await Promise.race([condition(), sleep(end - Date.now(), false)])) return;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  const why = last instanceof Error ? `: ${last.message}` : "";
  throw new Error(`not in ${seconds} s: ${what}${why}`, { cause: last });
}
