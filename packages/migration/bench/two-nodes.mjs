// Two sandboxes and a guest that is moved to and fro, by us and by virsh.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decide, decodeGrant, encodeGrant, freeGrant } from "@virtkit/api/grant";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { guestDomainXml, startLibvirtd } from "@virtkit/lab";
import {
  ControlLink,
  DecisionFile,
  RedialingLink,
  serveTarget,
  targetOver,
} from "@virtkit/migration/handover";
import { driveMigration, handoverGrant } from "@virtkit/migration/source";
import { MigrationReceiver, ReceiveFile, targetGrant } from "@virtkit/migration/target";
import { FileGrantStore } from "@virtkit/node-agent/claims";

const domain = { name: "vm1", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" };
const vmiUID = "vmi-1";
const flags = /** @type {const} */ (["live", "persistDestination", "changeProtection", "unsafe"]);

/** @param {string} name */
async function startNode(name) {
  const daemon = await startLibvirtd({ hostname: `bench-${name}` });
  const { uri } = daemon;
  const [control, long, resume] = await Promise.all([1, 2, 3].map(() => connectLibvirt({ uri })));
  if (!control || !long || !resume) throw new Error("no connection");
  /** @type {{ event: string, at: number }[]} */
  const events = [];
  const args = ["-q", "-c", uri, "qemu-monitor-event", "--loop"];
  const watch = spawn("virsh", args, { stdio: ["ignore", "pipe", "ignore"] });
  watch.stdout.on("data", (chunk) => {
    for (const [, event = "", at = ""] of String(chunk).matchAll(/event (\w+) at ([\d.]+) for/g)) {
      events.push({ event, at: Number(at) * 1_000 });
    }
  });
  return { name, daemon, control, long, resume, events, watch };
}

/** @typedef {Awaited<ReturnType<typeof startNode>>} BenchNode */

/** @param {string} name @param {number} count */
function holder(name, count) {
  const id = `${name}-${count}`;
  const of = { podUID: `pod-${id}`, containerID: id, nonce: id };
  return { ...of, node: name, machineID: name, bootID: name };
}

export class TwoNodes {
  /** Milliseconds, of each move. @type {{ resumed: number[], ours: number[], theirs: number[] }} */
  times = { resumed: [], ours: [], theirs: [] };
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
        // Its agent is not there yet.
      }
    }
    throw new Error("the guest does not boot");
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
    let resumed = 0;
    const receiver = new MigrationReceiver({
      ...{ libvirt: target.control, resume: target.resume, domain, migration, listen },
      file: new ReceiveFile(path("target"), migrationUID),
      grant: targetGrant(store, to),
      source: { decision: async () => undefined },
      at: (seam) => {
        if (seam === "resume.after") resumed = performance.now();
      },
    });
    const handler = serveTarget(receiver);
    const server = createServer((socket) => new ControlLink(socket, { handler })).listen(path("t"));
    const link = new RedialingLink(async () => connect({ path: path("t") }));
    const move = driveMigration(
      { flags, params: { migrate_uri: listen } },
      {
        ...{ libvirt: source.control, long: source.long, domain: domain.uuid, migration },
        decision: new DecisionFile(path("source"), migrationUID),
        target: targetOver(link),
        grant: handoverGrant(store, from),
        paused: false,
        now: () => performance.now(),
      },
    );
    const [outcome] = await Promise.all([move.outcome, receiver.outcome]);
    if (outcome.outcome !== "moved") throw outcome.error;
    this.times.resumed.push(resumed - (outcome.times["perform"] ?? 0));
    await link.close();
    server.close();
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
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const node of this.nodes) node.events.length = 0;
  }

  /** @param {ReturnType<typeof holder>} from @param {ReturnType<typeof holder>} to @param {string} migrationUID */
  async #handOver(from, to, migrationUID) {
    const codec = {
      encode: encodeGrant,
      decode: (/** @type {string} */ text) => decodeGrant(text, vmiUID),
    };
    const directory = join(this.directory, `grants${this.count}`);
    const store = new FileGrantStore(directory, { codec, empty: freeGrant });
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
    for (const { daemon, watch, control, long, resume } of this.nodes) {
      watch.kill();
      for (const connection of [control, long, resume]) await connection.close();
      await daemon[Symbol.asyncDispose]();
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}
