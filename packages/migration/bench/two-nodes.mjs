// Two sandboxes and a guest that we and virsh move back and forth.
import { execFileSync, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decide, decodeGrant, encodeGrant, freeGrant } from "@virtkit/api/grant";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { guestDomainXml, startLibvirtd } from "@virtkit/lab";
import { DecisionFile, RedialingLink, targetOver } from "@virtkit/migration/handover";
import { driveMigration, handoverGrant } from "@virtkit/migration/source";
import { FileGrantStore } from "@virtkit/node-agent/claims";

const domain = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" };
const vmiUID = "vmi-1";
const flags = /** @type {const} */ (["live", "persistDestination", "changeProtection", "unsafe"]);

/** @param {string} name */
async function startNode(name) {
  const daemon = await startLibvirtd({ hostname: `bench-${name}` });
  const { uri } = daemon;
  const [control, long] = await Promise.all([1, 2].map(() => connectLibvirt({ uri })));
  if (!control || !long) throw new Error("no connection");
  const target = new Target(uri);
  await target.next(({ ready }) => ready);
  /** @type {{ event: string, at: number }[]} */
  const events = [];
  const args = ["-q", "-c", uri, "qemu-monitor-event", "--loop"];
  const watch = spawn("virsh", args, { stdio: ["ignore", "pipe", "ignore"] });
  watch.stdout.on("data", (chunk) => {
    for (const [, event = "", at = ""] of String(chunk).matchAll(/event (\w+) at ([\d.]+) for/g)) {
      events.push({ event, at: Number(at) * 1_000 });
    }
  });
  return { name, daemon, control, long, target, events, watch };
}

/** @typedef {{ ready?: boolean, seam?: string, time?: number, target?: string }} Told */

const script = fileURLToPath(new URL("./target-child.mjs", import.meta.url));

/** A node's launcher when it receives; see `target-child.mjs`. */
class Target {
  /** @type {Told[]} */
  told = [];
  #wake = () => {};

  /** @param {string} uri */
  constructor(uri) {
    this.child = fork(script, [uri]);
    this.child.on("message", (/** @type {Told} */ told) => {
      this.told.push(told);
      this.#wake();
    });
  }

  /** Takes what it has said up to what is wanted. @param {(told: Told) => unknown} wanted */
  async next(wanted) {
    for (;;) {
      const index = this.told.findIndex(wanted);
      if (index >= 0) return this.told.splice(0, index + 1);
      if (this.child.exitCode !== null) throw new Error("the target has ended");
      await new Promise((resolve) => {
        this.#wake = () => resolve(undefined);
      });
    }
  }
}

/** Milliseconds since 1970, comparable between processes of one host. */
const now = () => performance.timeOrigin + performance.now();

/** @typedef {Awaited<ReturnType<typeof startNode>>} BenchNode */

/** @param {string} name @param {number} count */
function holder(name, count) {
  const id = `${name}-${count}`;
  const of = { podUID: `pod-${id}`, containerID: id, nonce: id };
  return { ...of, node: name, machineID: name, bootID: name };
}

/** The way from *perform* answered to the target resumed, one part after the other. */
const parts = /** @type {const} */ ([
  ["to the finish call", "source perform.after", "target finish.before"],
  ["finish at the target's libvirt", "target finish.before", "target finish.after"],
  ["its answer", "target finish.after", "source finish.after"],
  ["the decision, synced", "source decision.before", "source decision.after"],
  ["the release message", "source release.before", "target release.before"],
  ["the release, synced", "target release.before", "target resume.before"],
  ["resume at the target's libvirt", "target resume.before", "target resume.after"],
]);

export class TwoNodes {
  /** Milliseconds, of each move. @type {Record<"resumed" | "answered" | "ours" | "theirs", number[]>} */
  times = { resumed: [], answered: [], ours: [], theirs: [] };
  /** When the last move of ours had its answer to *perform*. */
  performed = 0;
  /** What `answered` is made of, by part. @type {Map<string, number[]>} */
  split = new Map();
  directory = mkdtempSync(join(tmpdir(), "virtkit-bench-"));
  count = 1;
  /** Who made the last move. @type {"ours" | "theirs" | undefined} */
  last;
  /** @type {[BenchNode, BenchNode]} */
  nodes;

  /** @param {[BenchNode, BenchNode]} nodes */
  constructor(nodes) {
    this.nodes = nodes;
  }

  static async start() {
    const lab = new TwoNodes(await Promise.all([startNode("a"), startNode("b")]));
    const [{ control, daemon }] = lab.nodes;
    const guest = await daemon.guest();
    const xml = guestDomainXml({ ...domain, guest, memoryMiB: 256, cmdline: "hb=none" });
    const { dom } = await control.call("domainDefineXml", { xml });
    await control.call("domainCreate", { dom });
    await lab.#booted();
    return lab;
  }

  async #booted() {
    const [{ daemon }] = this.nodes;
    for (let tries = 0; tries < 600; tries++) {
      try {
        await daemon.virsh("qemu-agent-command", domain.name, '{"execute":"guest-ping"}');
        return;
      } catch {
        // Its agent does not answer yet.
      }
    }
    throw new Error("the guest did not boot");
  }

  /** After a move: notes how long the guest stood still, and turns the way of the next one. */
  async turn() {
    if (!this.last) return;
    await this.#note(this.last);
    this.last = undefined;
    this.nodes.reverse();
    this.count++;
  }

  /** @param {"ours" | "theirs"} who */
  async move(who) {
    if (who === "ours") await this.#ours();
    else this.#theirs();
    this.last = who;
  }

  /** The five phases, with a decision on disk and a release. */
  async #ours() {
    const [source, target] = this.nodes;
    const [from, to] = [holder(source.name, this.count), holder(target.name, this.count)];
    const migrationUID = `m-${this.count}`;
    const store = await this.#handOver(from, to, migrationUID);
    const { grant } = await store.read();
    if (!("epoch" in grant)) throw new Error("no grant");
    const migration = { migrationUID, vmiUID, epoch: grant.epoch, seq: grant.seq };
    const path = (/** @type {string} */ name) => join(this.directory, `${name}${this.count}`);
    const listen = `unix://${target.daemon.directory}/in${this.count}`;
    /** @type {Map<string, number>} */
    const seams = new Map();
    target.target.child.send({
      ...{ domain, migration, listen, directory: path("target"), holder: to, serve: path("t") },
      grants: this.#grants,
    });
    await target.target.next(({ ready }) => ready);
    const link = new RedialingLink(async () => connect({ path: path("t") }));
    const move = driveMigration(
      { flags, params: { migrate_uri: listen } },
      {
        ...{ libvirt: source.control, long: source.long, domain: domain.uuid, migration },
        decision: new DecisionFile(path("source"), migrationUID),
        target: targetOver(link),
        grant: handoverGrant(store, from),
        paused: false,
        at: (seam) => void seams.set(`source ${seam}`, now()),
      },
    );
    const [outcome, told] = await Promise.all([
      move.outcome,
      target.target.next(({ target: end }) => end !== undefined),
    ]);
    if (outcome.outcome !== "moved") throw outcome.error;
    for (const { seam, time } of told) if (seam) seams.set(`target ${seam}`, time ?? 0);
    this.#noteSplit(seams);
    this.performed = seams.get("source perform.after") ?? 0;
    await link.close();
  }

  /** @param {ReadonlyMap<string, number>} seams */
  #noteSplit(seams) {
    const between = (/** @type {string} */ from, /** @type {string} */ to) =>
      (seams.get(to) ?? 0) - (seams.get(from) ?? 0);
    this.times.answered.push(between("source perform.after", "target resume.after"));
    for (const [name, from, to] of parts) {
      this.split.set(name, [...(this.split.get(name) ?? []), between(from, to)]);
    }
  }

  /** libvirt's own way. */
  #theirs() {
    const [source, target] = this.nodes;
    const data = `unix://${target.daemon.directory}/p2p${this.count}`;
    const how = ["migrate", "--live", "--p2p", "--persistent", "--unsafe", "--migrateuri", data];
    execFileSync("virsh", ["-q", "-c", source.daemon.uri, ...how, domain.name, target.daemon.uri]);
  }

  /** By QEMU's own time stamps. @param {"ours" | "theirs"} who */
  async #note(who) {
    const [source, target] = this.nodes;
    for (let tries = 0; tries < 100; tries++) {
      const stop = source.events.find(({ event }) => event === "STOP");
      const resume = target.events.find(({ event }) => event === "RESUME");
      if (stop && resume) {
        this.times[who].push(resume.at - stop.at);
        if (who === "ours") this.times.resumed.push(resume.at - this.performed);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const node of this.nodes) node.events.length = 0;
  }

  get #grants() {
    return join(this.directory, `grants${this.count}`);
  }

  /** @param {ReturnType<typeof holder>} from @param {ReturnType<typeof holder>} to @param {string} migrationUID */
  async #handOver(from, to, migrationUID) {
    const codec = {
      encode: encodeGrant,
      decode: (/** @type {string} */ text) => decodeGrant(text, vmiUID),
    };
    const store = new FileGrantStore(this.#grants, { codec, empty: freeGrant });
    const earlier = { remembered: [], listed: [], live: true };
    for (const request of /** @type {import("@virtkit/api/grant").GrantRequest[]} */ ([
      { kind: "grant", vmiUID, podUID: from.podUID, proofs: [], remembered: true, earlier },
      { kind: "claim", holder: from },
      { kind: "handOver", target: to, migrationUID, remembered: true, sourceRuns: true },
    ])) {
      const read = await store.read();
      const verdict = decide(read.grant, request);
      if ("refused" in verdict) throw new Error(verdict.reason);
      await store.swap(read, verdict.grant);
    }
    return store;
  }

  async close() {
    for (const { daemon, watch, control, long, target } of this.nodes) {
      watch.kill();
      target.child.kill();
      for (const connection of [control, long]) await connection.close();
      await daemon[Symbol.asyncDispose]();
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}
