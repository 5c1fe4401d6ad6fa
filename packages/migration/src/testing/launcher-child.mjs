// A launcher that takes part in one migration, in its own process that a test can kill. It gets its
// configuration as the first message, reports where it is, and stops at the seams that the test names.
import { connect, createServer } from "node:net";
import { inspect } from "node:util";
import { realClock } from "@virtkit/api/clock";
import { decodeGrant, encodeGrant, freeGrant } from "@virtkit/api/grant";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import {
  ControlLink,
  DecisionFile,
  RedialingLink,
  serveSource,
  serveTarget,
  sourceOver,
  targetOver,
} from "@virtkit/migration/handover";
import {
  driveMigration,
  handoverGrant,
  recoverPostCopy,
  settleSource,
} from "@virtkit/migration/source";
import {
  followTarget,
  MigrationReceiver,
  ReceiveFile,
  targetGrant,
} from "@virtkit/migration/target";
import { FileGrantStore } from "@virtkit/node-agent/claims";

/** @type {Map<string, () => void>} */
const held = new Map();
/** @type {import("@virtkit/migration/source").SourceMigration | undefined} */
let migration;
/** What proves that the source has ended. @type {readonly import("@virtkit/api/grant").ProofOfEnd[]} */
let proofs = [];

/**
 * A clock that stands still until something has been broken: a phase that takes long on a busy host must not be mistaken for the
 * fault. What is due at once is a turn, not a time, and is not held.
 */
class HeldClock {
  /** @type {number | undefined} */
  #begin;
  /** @type {Set<{ callback: () => void, milliseconds: number, timer?: unknown }>} */
  #timers = new Set();

  now() {
    return this.#begin === undefined ? 0 : realClock.now() - this.#begin;
  }

  /** @param {() => void} callback @param {number} milliseconds */
  setTimeout(callback, milliseconds) {
    const held = { callback, milliseconds };
    this.#timers.add(held);
    if (this.#begin !== undefined || milliseconds === 0) this.#start(held);
    return held;
  }

  /** @param {any} held */
  clearTimeout(held) {
    this.#timers.delete(held);
    if (held?.timer !== undefined) realClock.clearTimeout(held.timer);
  }

  go() {
    if (this.#begin !== undefined) return;
    this.#begin = realClock.now();
    for (const held of this.#timers) if (held.timer === undefined) this.#start(held);
  }

  /** @param {{ callback: () => void, milliseconds: number, timer?: unknown }} held */
  #start(held) {
    held.timer = realClock.setTimeout(() => {
      this.#timers.delete(held);
      held.callback();
    }, held.milliseconds);
  }
}

/** How long the source waits for answers. */
const clock = new HeldClock();

const tell = (/** @type {object} */ message) => process.send?.(message);

/** @param {unknown} error */
function plain(error) {
  const { code, path, message } =
    /** @type {{ code?: string, path?: string, message?: string }} */ (Object(error));
  return { code, path, message };
}

/** @param {string} path */
function linkTo(path) {
  return new RedialingLink(
    async () => {
      const socket = connect({ path });
      await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      return socket;
    },
    { clock },
  );
}

/** @param {string} path @param {import("@virtkit/migration/handover").ControlHandler} handler */
async function serve(path, handler) {
  const server = createServer((socket) => new ControlLink(socket, { handler }));
  await new Promise((resolve) => server.listen(path, () => resolve(undefined)));
}

/** What both sides have. @param {any} config */
async function common({ mode, libvirt: uri, holdAt = [], identity, grants }) {
  const at = (/** @type {string} */ seam) => {
    tell({ at: seam, time: now() });
    if (!holdAt.includes(seam)) return;
    return new Promise((resolve) => held.set(seam, () => resolve(undefined)));
  };
  // Set it to see the logs of both sides.
  const log = (/** @type {unknown[]} */ ...line) => {
    if (process.env["VIRTKIT_MIGRATION_LOG"]) process.stderr.write(`${inspect([mode, ...line])}\n`);
  };
  const codec = {
    encode: encodeGrant,
    decode: (/** @type {string} */ text) => decodeGrant(text, identity.vmiUID),
  };
  const store = new FileGrantStore(grants, { codec, empty: freeGrant });
  const [control, long] = await Promise.all([
    connectLibvirt({ uri, clock }),
    connectLibvirt({ uri, clock }),
  ]);
  return { at, control, long, store, log: { debug: log, info: log, warn: log, error: log } };
}

/** @param {any} config */
async function receive(config) {
  clock.go();
  const { identity: migration, domain, listen, copied, holder, state, interval = 300 } = config;
  const { at, control, long, store, log } = await common(config);
  const file = new ReceiveFile(state, migration.migrationUID);
  const source = sourceOver(linkTo(config.peer));
  const connections = { libvirt: control, resume: long };
  const grant = { ...targetGrant(store, holder), proofs: () => proofs };
  const place = { domain, migration, listen, copied };
  const parts = { ...connections, ...place, file, grant, source, at, log };
  const receiver = new MigrationReceiver(parts);
  await serve(config.serve, serveTarget(receiver));
  tell({ ready: true });
  const stop = new AbortController();
  const following = followTarget(parts, { interval, signal: stop.signal });
  // It ends when the other side is over.
  following.catch(() => {});
  const ended = await Promise.race([receiver.outcome, following]);
  stop.abort();
  const error = ended && "error" in ended ? { error: plain(ended.error) } : {};
  tell({ outcome: { target: ended?.target, ...error } });
}

/** @param {any} config */
async function send(config) {
  const { identity, domain, holder, state, mode, flags, params, paused, giveUp, patience } = config;
  if (mode !== "drive") clock.go();
  const { at, control, long, store, log } = await common(config);
  await serve(config.serve, serveSource(state));
  const parts = {
    ...{ libvirt: control, long, domain: domain.uuid, migration: identity, at, log, patience },
    decision: new DecisionFile(state, identity.migrationUID),
    target: targetOver(linkTo(config.peer)),
    grant: handoverGrant(store, holder),
  };
  const destinationXml = (/** @type {string} */ xml) => xml.replaceAll(config.here, config.there);
  const plan = { flags, params, destinationXml };
  tell({ ready: true });
  if (mode === "settleSource") return tell({ outcome: await settleSource(parts) });
  if (mode === "recover") return tell({ outcome: await recoverPostCopy(plan, parts) });
  migration = driveMigration(plan, {
    ...{ ...parts, paused, now, clock },
    supervise: (driven, signal) =>
      watch(driven, signal, { libvirt: control, uuid: domain.uuid, giveUp }),
  });
  const outcome = await migration.outcome;
  tell({ outcome: "error" in outcome ? { ...outcome, error: plain(outcome.error) } : outcome });
}

const now = () => performance.timeOrigin + performance.now();

/**
 * The simplest watch: after some rounds it does what the test says, and a copy that does not move is given up.
 *
 * @param {import("@virtkit/migration/source").SourceMigration} driven
 * @param {AbortSignal} signal
 * @param {{ libvirt: import("@virtkit/domain-manager/libvirt").Libvirt, uuid: string, giveUp?: { iteration: number, how: "abort" | "postCopy" } }} options
 */
async function watch(driven, signal, { libvirt, uuid, giveUp }) {
  const { dom } = await libvirt.call("domainLookupByUuid", { uuid });
  let last = { processed: -1n, at: clock.now() };
  while (!signal.aborted) {
    const { params } = await libvirt.call("domainGetJobStats", { dom });
    const processed = BigInt(params["memory_processed"] ?? 0);
    if (processed !== last.processed) last = { processed, at: clock.now() };
    else if (clock.now() - last.at > 2_500) return driven.abort("the copy does not move");
    if (giveUp && Number(params["memory_iteration"] ?? 0) >= giveUp.iteration) {
      if (giveUp.how === "abort") return driven.abort("it does not converge");
      tell({ switching: true });
      return await driven.switchToPostCopy();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

process.on("message", (/** @type {any} */ message) => {
  if (message.start) {
    const play = message.start.listen ? receive : send;
    play(message.start).catch((error) => tell({ outcome: { failed: plain(error) } }));
  }
  if (message.time) clock.go();
  if (message.proofs) proofs = message.proofs;
  if (message.go) held.get(message.go)?.();
  if (message.abort) {
    try {
      migration?.abort("a test wants it");
      tell({ answered: "abort" });
    } catch (error) {
      tell({ answered: "abort", error: plain(error) });
    }
  }
  if (message.postcopy) {
    migration?.switchToPostCopy().then(
      () => tell({ answered: "postcopy" }),
      (error) => tell({ answered: "postcopy", error: plain(error) }),
    );
  }
});
process.on("disconnect", () => process.exit(0));
