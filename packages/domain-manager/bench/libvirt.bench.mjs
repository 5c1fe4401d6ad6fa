import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { startLibvirtd } from "@virtkit/lab";

/** @typedef {import("@virtkit/domain-manager/libvirt").Libvirt} Libvirt */
/** @typedef {import("@virtkit/domain-manager/libvirt").DomainRef} DomainRef */

/**
 * The C client behind Python: reads a line "what count", makes the call that many times, and answers with a
 * line.
 */
const python = `
import libvirt, sys
connection = libvirt.open(sys.argv[1])
domains = connection.listAllDomains()
print("ready", flush=True)
for line in sys.stdin:
    what, count = line.split()
    for i in range(int(count)):
        domain = domains[i % len(domains)]
        if what == "info": domain.info()
        else: connection.domainListGetStats([domain], libvirt.VIR_DOMAIN_STATS_STATE | libvirt.VIR_DOMAIN_STATS_BALLOON)
    print("done", flush=True)
`;

/** Four idle guests: the calls are measured, not the guests. */
const domainXml = (/** @type {number} */ index) => `<domain type='qemu'>
  <name>bench${index}</name><memory unit='MiB'>32</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices><emulator>/usr/bin/qemu-system-x86_64</emulator></devices></domain>`;

/** One daemon for all benchmarks of this file; the last one to close ends it. */
async function startBench() {
  const daemon = await startLibvirtd();
  const libvirt = await connectLibvirt({ uri: daemon.uri });
  /** @type {DomainRef[]} */
  const domains = [];
  for (let index = 0; index < 4; index++) {
    const xml = domainXml(index);
    domains.push((await libvirt.call("domainCreateXml", { xml, flags: ["paused"] })).dom);
  }
  // The C client has no compiler to warm up, so ours is measured after its warm-up, too.
  for (let i = 0; i < 750; i++) {
    for (const dom of domains) await libvirt.call("domainGetInfo", { dom });
  }
  const child = spawn("/usr/bin/python3", ["-c", python, daemon.uri], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    libvirt,
    domains,
    /** @param {string} what */
    askPython: async (what) => {
      child.stdin.write(`${what} ${batch}\n`);
      await lines.next();
      return batch;
    },
    close: async () => {
      child.kill();
      await libvirt.close();
      await daemon[Symbol.asyncDispose]();
    },
  };
}

/** Calls in one part of a round. */
const batch = 100;

/** @type {Promise<Awaited<ReturnType<typeof startBench>>> | undefined} */
let bench;
const prepare = () => {
  bench ??= startBench();
  return bench;
};
const close = async () => {
  const started = await bench;
  bench = undefined;
  await started?.close();
};
const available = () =>
  (process.getuid?.() === 0 &&
    existsSync("/usr/sbin/libvirtd") &&
    existsSync("/usr/bin/python3")) ||
  "needs root, libvirtd and python3-libvirt";

/** @type {Record<string, (libvirt: Libvirt, dom: DomainRef) => Promise<unknown>>} */
const calls = {
  info: (libvirt, dom) => libvirt.call("domainGetInfo", { dom }),
  stats: (libvirt, dom) =>
    libvirt.call("connectGetAllDomainStats", { domains: [dom], stats: ["state", "balloon"] }),
};

/** @typedef {Awaited<ReturnType<typeof startBench>>} Bench */

/** @param {string} what */
const sequential =
  (what) =>
  async (/** @type {Bench} */ { libvirt, domains }) => {
    for (let i = 0; i < batch; i++) {
      const dom = domains[i % domains.length];
      if (dom) await calls[what]?.(libvirt, dom);
    }
    return batch;
  };

/** @param {string} what */
const pipelined =
  (what) =>
  async (/** @type {Bench} */ { libvirt, domains }) => {
    const all = Array.from({ length: batch }, (_, i) => domains[i % domains.length]);
    await Promise.all(all.map((dom) => dom && calls[what]?.(libvirt, dom)));
    return batch;
  };

/**
 * @param {string} name
 * @param {string} what
 * @param {string} goal
 * @param {(bench: Bench) => Promise<number>} run
 */
const against = (name, what, goal, run) => ({
  name: `libvirt: ${name}`,
  clock: /** @type {const} */ ("wall"),
  available,
  close,
  goal,
  subject: { name, prepare, run },
  baseline: {
    name: "python3-libvirt",
    prepare,
    run: (/** @type {Bench} */ { askPython }) => askPython(what),
  },
});

/** Megabytes of an idle process after it ran a program: all, and the unshared part. */
function memoryAfter(/** @type {string} */ first) {
  const program = `${first};
    const { readFileSync } = await import("node:fs");
    const status = readFileSync("/proc/self/status", "utf8");
    const mega = (name) => (Number(new RegExp(name + ":\\\\s+(\\\\d+)").exec(status)?.[1]) / 1024).toFixed(1);
    console.log(mega("VmRSS") + " MB, " + mega("RssAnon") + " anonymous");`;
  const args = ["--input-type=module", "-e", program];
  return execFileSync(process.execPath, args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  }).trim();
}

function memory() {
  if (!existsSync("/proc/self/status")) return "memory not known";
  return `${memoryAfter(importClient)}; bare node ${memoryAfter("")}`;
}

const importClient = 'await import("@virtkit/domain-manager/libvirt")';

const startNode = (/** @type {string} */ program) => () => {
  execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
  });
  return 1;
};

export const benchmarks = [
  against("domainGetInfo, one after the other", "info", "at least 0.8", sequential("info")),
  against("domainGetInfo, four in flight", "info", "at least 1.5", pipelined("info")),
  against("stats of a domain, one after the other", "stats", "at least 0.8", sequential("stats")),
  against("stats of a domain, four in flight", "stats", "at least 1.5", pipelined("stats")),
  {
    name: `libvirt: start of a process that only imports the client (${memory()})`,
    clock: /** @type {const} */ ("wall"),
    subject: {
      name: "import",
      prepare: () => undefined,
      run: startNode(importClient),
    },
    baseline: { name: "bare node", prepare: () => undefined, run: startNode("") },
  },
];
