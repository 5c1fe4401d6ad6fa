// A node agent in its own process, so that a test can kill it. It runs its side's proxy, plans according to the VMI's
// status and the launcher's report, and swaps the grant. Its parent plays the API server. After a restart it has no
// memory: what it does follows from the launcher, the VMI and the grant.
import { once } from "node:events";
import { connect } from "node:net";
import { clusterConfig } from "@virtkit/api/config";
import { decide, encodeGrant } from "@virtkit/api/grant";
import { MayRun } from "@virtkit/domain-manager";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { connectLauncher } from "@virtkit/launcher/client";
import { startSourceProxy, startTargetProxy } from "@virtkit/migration/proxy";
import { planSourcePass } from "@virtkit/migration/source/agent";
import { planTargetStep } from "@virtkit/migration/target/agent";

/** @typedef {import("./agent-process.ts").AgentConfig} AgentConfig */
/** @typedef {import("../migration/migration-verbs.ts").MigrationReport} Report */
/** @typedef {import("@virtkit/launcher/client").LauncherClient} Launcher */

let last = 0;
/** @type {Map<number, (answer: any) => void>} */
const asked = new Map();

/** Asks the API server. @param {string} what @param {unknown} [value] @returns {Promise<any>} */
async function api(what, value) {
  const id = ++last;
  return await new Promise((resolve) => {
    asked.set(id, resolve);
    process.send?.({ id, what, value });
  });
}

/** The grant as the API server has it: a swap of what was read, by its number, or none. @type {import("@virtkit/domain-manager").GrantStore<number>} */
const store = {
  read: async () => {
    const grant = await api("grant");
    return { grant, version: grant.seq };
  },
  swap: async ({ version }, next) => await api("swap", { version, next }),
};

/**
 * What the launcher reports about this migration; undefined if it has not begun there. @param {Launcher}
 * launcher @param {string} migrationUID
 */
async function reportOf(launcher, migrationUID) {
  try {
    return await launcher.followMigration({ migrationUID, after: 0 });
  } catch (error) {
    if (Object(error).code !== "LAUNCHER_ARGUMENT") throw error;
    return undefined;
  }
}

/** @param {Report | undefined} report @param {AgentConfig} config */
function domainOf(report, { side, vmiUID, migration }) {
  const begun = report && { uid: migration.migrationUID, startTimestamp: "2026-01-01T00:00:00Z" };
  if (side === "target") return undefined;
  return { vmiUid: vmiUID, state: "Running", migration: begun };
}

/** @param {string} path */
async function dial(path) {
  const socket = connect({ path, allowHalfOpen: true });
  await once(socket, "connect");
  return socket;
}

/** @param {AgentConfig} config @param {Launcher} launcher @param {Report | undefined} report */
async function targetPass(config, launcher, report) {
  const { node, credentials, address, sockets, migration, holder, receive } = config;
  const vmi = await api("vmi");
  const facts = { node, domain: undefined, isListening: report !== undefined, now: 0 };
  const { step } = planTargetStep(vmi, facts);
  if (step.step !== "prepare") return step;
  const channels = [
    { name: "handover", kind: /** @type {const} */ ("control"), dial: () => dial(sockets.serve) },
    { name: "memory", kind: /** @type {const} */ ("data"), dial: () => dial(sockets.in) },
  ];
  const uid = migration.migrationUID;
  const proxy = await startTargetProxy({ uid, credentials, address, channels });
  await launcher.receiveMigration({
    ...{ migration, holder, ...receive, listen: `unix://${sockets.in}` },
    ...{ serve: sockets.serve, peer: sockets.asks },
  });
  const { controlPort, dataPort } = proxy;
  const ports = { [controlPort]: 0, [dataPort]: 49152 };
  await api("status", { targetDirectMigrationNodePorts: ports, targetNodeAddress: address });
  return step;
}

/** @param {AgentConfig} config @param {Launcher} launcher @param {Report | undefined} report */
async function sourcePass(config, launcher, report) {
  const { node, credentials, sockets, migration, holder } = config;
  const vmi = await api("vmi");
  const domain = domainOf(report, config);
  const { step } = planSourcePass(vmi, { node, domain, config: clusterConfig(), now: 0 });
  if (step.step !== "migrate") return step;
  const byBehind = Object.entries(step.target.ports).sort(([, a], [, b]) => a - b);
  const [controlPort = 0, dataPort = 0] = byBehind.map(([port]) => Number(port));
  const channels = [
    { name: "handover", kind: /** @type {const} */ ("control"), path: sockets.proxied },
    { name: "memory", kind: /** @type {const} */ ("data"), path: sockets.out },
  ].map(({ path, ...channel }) => ({ ...channel, listener: listenUnix(path, { mode: 0o666 }) }));
  await startSourceProxy({
    ...{ uid: migration.migrationUID, credentials, channels },
    target: { host: step.target.address, controlPort, dataPort },
  });
  await launcher.migrate({
    ...{ migration, holder, vmi, options: { ...step.options, unsafe: true } },
    uris: { memory: `unix://${sockets.out}`, disks: "" },
    ...{ serve: sockets.answers, peer: sockets.peer },
  });
  return step;
}

/** Swaps a decision of the source's launcher into the grant. @param {import("@virtkit/api/grant").Decision} decision @param {string} [diesAt] */
async function makeKnown(decision, diesAt) {
  if (decision.outcome === diesAt) process.kill(process.pid, "SIGKILL");
  const read = await store.read();
  const verdict = decide(read.grant, { kind: "decided", decision });
  if ("grant" in verdict && verdict.grant !== read.grant) await store.swap(read, verdict.grant);
}

/** @param {Launcher} launcher @param {string} migrationUID */
async function noteGrant(launcher, migrationUID) {
  const { grant } = await store.read();
  await launcher.noteGrant({ migrationUID, grant: encodeGrant(/** @type {any} */ (grant)) });
}

/** Follows the launcher to its end, and makes its decisions and claims known. @param {AgentConfig} config @param {Launcher} launcher */
async function follow({ migration: { migrationUID }, holder, diesAtDecision }, launcher) {
  const released = /** @type {const} */ ({ migrationUID, outcome: "released" });
  for (let after = 0; ; ) {
    const report = await launcher.followMigration({ migrationUID, after });
    after = report.revision;
    const { decision, claims, settled, asksGrant } = report;
    if (decision) {
      await makeKnown({ migrationUID, outcome: decision }, diesAtDecision);
    }
    if (claims) {
      const evidence = claims === "postCopyComplete" ? claims : released;
      const mayRun = await MayRun.claim(store, { holder, evidence });
      await launcher.noteClaim({ migrationUID, mayRun });
    }
    if (settled) return report;
    if (asksGrant || decision) await noteGrant(launcher, migrationUID);
  }
}

/** @param {AgentConfig} config */
async function run(config) {
  const launcher = await connectLauncher({ path: config.launcher });
  const { migrationUID } = config.migration;
  const pass = config.side === "target" ? targetPass : sourcePass;
  for (;;) {
    const report = await reportOf(launcher, migrationUID);
    const { step } = await pass(config, launcher, report);
    process.send?.({ step });
    if (step !== "wait") break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  process.send?.({ ended: await follow(config, launcher) });
}

process.on("message", (/** @type {any} */ { start, id, answer }) => {
  if (id !== undefined) {
    asked.get(id)?.(answer);
    asked.delete(id);
  }
  if (!start) return;
  run(start).catch(({ code, message }) => process.send?.({ error: { code, message } }));
});
process.on("disconnect", () => process.exit(0));
