import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CertificateAuthority, FileAuthorityStore, migrationIdentity } from "@virtkit/pki";

/** In one transfer; the handshake before it is part of its time. */
const mebibytes = 512;
const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";
/** Of the kernel, in /proc/PID/stat. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** @typedef {Awaited<ReturnType<typeof startPlace>>} Place */

/** Proxies, who sends and who receives: each its own process. */
async function startPlace() {
  const directory = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
  const file = (/** @type {string} */ name) => path.join(directory, name);
  const program = fileURLToPath(new URL("proxy-process.mjs", import.meta.url));
  /** @type {import("node:child_process").ChildProcess[]} */
  const children = [];
  const start = async (/** @type {string} */ role, options = {}) => {
    const child = fork(program, [role, JSON.stringify(options)]);
    children.push(child);
    const [answer] = await once(child, "message");
    return { child, answer };
  };
  const store = new FileAuthorityStore(file("pki"));
  const authority = await CertificateAuthority.open({ store, trustDomain: "bench" });
  const issue = (/** @type {"source" | "target"} */ side) =>
    authority.issue(migrationIdentity(uid, side));
  const sink = await start("sink", { path: file("sink") });
  const generator = await start("generator");
  const credentials = await issue("target");
  // For socat, which reads both from one file.
  const pem = `${credentials.privateKey}\n${credentials.certificate}`;
  writeFileSync(file("socat.pem"), pem, { mode: 0o600 });
  const target = await start("target", { uid, credentials, sink: file("sink") });
  const source = await start("source", {
    uid,
    credentials: await issue("source"),
    path: file("proxy"),
    sealedPath: file("sealed"),
    target: target.answer,
  });
  return {
    file,
    proxies: [source.child.pid ?? 0, target.child.pid ?? 0],
    /** Sends through a path until the sink has all of it. */
    transfer: async (/** @type {string} */ through, size = mebibytes) => {
      const ended = once(sink.child, "message");
      generator.child.send({ path: through, mebibytes: size });
      const [{ bytes }] = await ended;
      if (bytes !== size * 2 ** 20) throw new Error(`${bytes} bytes arrived`);
    },
    close: async () => {
      for (const child of children) {
        const ended = once(child, "exit");
        child.kill();
        await ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

let socatPort = 30_000 + (process.pid % 20_000);

/**
 * Two socat processes for one connection, with clear text or TLS between them.
 *
 * @param {Place} place @param {"TCP" | "OPENSSL"} kind
 */
async function startSocat(place, kind) {
  const port = ++socatPort;
  const entry = place.file(`socat-${port}`);
  const run = async (/** @type {string} */ from, /** @type {string} */ to) => {
    const script = `TIMEFORMAT='cpu %U %S'; time socat -d -d -b 65536 ${from} ${to}`;
    const child = spawn("bash", ["-c", script], { stdio: ["ignore", "ignore", "pipe"] });
    const lines = createInterface(child.stderr);
    let seconds = 0;
    lines.on("line", (line) => {
      const [, user, system] = /^cpu ([\d.]+) ([\d.]+)$/.exec(line) ?? [];
      if (user) seconds = Number(user) + Number(system);
    });
    await new Promise((resolve) =>
      lines.on("line", (line) => line.includes("listening on") && resolve(line)),
    );
    return { ended: once(lines, "close").then(() => seconds) };
  };
  const tls = kind === "OPENSSL" ? `,cert=${place.file("socat.pem")},verify=0` : "";
  const second = await run(
    `${kind}-LISTEN:${port},bind=127.0.0.1,reuseaddr${tls}`,
    `UNIX-CONNECT:${place.file("sink")}`,
  );
  const first = await run(`UNIX-LISTEN:${entry}`, `${kind}:127.0.0.1:${port}${tls}`);
  return { entry, ended: Promise.all([first.ended, second.ended]).then(([a, b]) => a + b) };
}

/** Processor seconds of a process. @param {number} pid */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** MiB of both proxies. @param {Place} place */
function memoryOf({ proxies }) {
  const pages = proxies.map((pid) =>
    Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]),
  );
  return (pages.reduce((sum, each) => sum + each, 0) * pageBytes) / (1 << 20);
}

/** @typedef {"proxy" | "sealed" | "socat" | "socat with TLS"} Who */

/** What is printed beside the times: processor seconds and GiB of each. */
const figures = {
  memory: "",
  /** @type {Map<Who, { cpu: number, gibibytes: number }>} */
  used: new Map(),
};

/** 4 GiB in one stream, once; memory is looked at all the time. @param {Place} place */
async function measureMemory(place) {
  const before = memoryOf(place);
  /** @type {number[]} */
  const samples = [];
  const timer = setInterval(() => samples.push(memoryOf(place)), 100);
  await place.transfer(place.file("proxy"), 4096);
  clearInterval(timer);
  const [early = before] = samples.slice(3);
  const round = (/** @type {number} */ value) => value.toFixed(0);
  figures.memory =
    `RSS of both proxies over 4 GiB: at rest ${round(before)} MiB, after 0.4 s ${round(early)}, ` +
    `at the end ${round(memoryOf(place))}, at most ${round(Math.max(...samples))}`;
}

/** @type {Promise<Place> | undefined} */
let place;
const prepare = async () => {
  if (!place) {
    place = startPlace();
    if (figures.memory === "") await measureMemory(await place);
  }
  return await place;
};

/** @param {Who} who @param {number} seconds */
function account(who, seconds) {
  const { cpu, gibibytes } = figures.used.get(who) ?? { cpu: 0, gibibytes: 0 };
  figures.used.set(who, { cpu: cpu + seconds, gibibytes: gibibytes + mebibytes / 1024 });
}

/** @param {readonly Who[]} all */
function costs(...all) {
  const perGibibyte = (/** @type {Who} */ who) => {
    const { cpu, gibibytes } = figures.used.get(who) ?? { cpu: 0, gibibytes: 0 };
    return `${who} ${(cpu / gibibytes).toFixed(2)}`;
  };
  return `CPU seconds per GiB, both processes: ${all.map(perGibibyte).join(", ")}`;
}

const hasSocat = () => spawnSync("socat", ["-V"]).status === 0 || "needs socat";

/** After each: nothing is left, and the next one begins with figures of its own. */
const close = async () => {
  const started = await place;
  place = undefined;
  figures.used.clear();
  await started?.close();
};

/** A stream through the proxies, as it is (`proxy`) or in their TLS (`sealed`). @param {"proxy" | "sealed"} name */
const throughProxies = (name) => ({
  name: name === "sealed" ? "sealed" : "the same proxies without TLS",
  prepare,
  run: async (/** @type {Place} */ made) => {
    const cpu = () => made.proxies.reduce((sum, pid) => sum + cpuOf(pid), 0);
    const before = cpu();
    await made.transfer(made.file(name));
    account(name, cpu() - before);
    return mebibytes;
  },
});

/** @param {"TCP" | "OPENSSL"} kind @param {"socat" | "socat with TLS"} who */
const throughSocat = (kind, who) => ({
  name: `${who} -b 65536`,
  prepare: async () => ({ made: await prepare(), socat: await startSocat(await prepare(), kind) }),
  run: async (
    /** @type {{ made: Place, socat: Awaited<ReturnType<typeof startSocat>> }} */ { made, socat },
  ) => {
    await made.transfer(socat.entry);
    void socat.ended.then((seconds) => account(who, seconds));
    return mebibytes;
  },
});

const wall = /** @type {const} */ ("wall");

export const benchmarks = [
  {
    name: "migration: proxy, one stream, unix to TCP to unix, a MiB",
    clock: wall,
    available: hasSocat,
    get goal() {
      return `at least 0.8 x socat -b 65536; ${costs("proxy", "socat")}; ${figures.memory}`;
    },
    close,
    subject: throughProxies("proxy"),
    baseline: throughSocat("TCP", "socat"),
  },
  {
    name: "migration: proxy, one sealed stream (TLS by the proxies), a MiB",
    clock: wall,
    get goal() {
      return `what TLS costs; ${costs("sealed", "proxy")}`;
    },
    close,
    subject: throughProxies("sealed"),
    baseline: throughProxies("proxy"),
  },
  {
    name: "migration: proxy, one sealed stream (TLS by the proxies) against socat with TLS, a MiB",
    clock: wall,
    available: hasSocat,
    get goal() {
      return costs("sealed", "socat with TLS");
    },
    close,
    subject: throughProxies("sealed"),
    baseline: throughSocat("OPENSSL", "socat with TLS"),
  },
];
