import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { workspaceMembers } from "./workspace-members.mjs";

/**
 * The sources of time and randomness. Everything else takes them as a parameter: `clock`, `now` or `random`.
 */
const homes = [
  "packages/api/src/clock/",
  "packages/api/src/random/",
  "packages/testing/src/virtual-time/",
];

/** Files that may use them directly, and why. @type {Record<string, string>} */
const exceptions = {
  "packages/cli/src/local/progress-lines.ts": "the outermost layer: it prints the time",
  "packages/cli/src/local/run-session.ts": "the outermost layer: a person waits",
  "packages/host-primitives/src/durable/write-durably.ts":
    "imports no other package; a name that nobody sees",
  "packages/host-primitives/src/namespaces/share-directory.ts":
    "imports no other package; polls the kernel, which has no other clock",
  "packages/host-primitives/src/safe-path/change-entries.ts":
    "imports no other package; a name that nobody sees",
  "packages/host-primitives/src/selinux/allocate-level.ts":
    "imports no other package; the default of a parameter",
  "packages/host-primitives/src/sockets/connect-unix.ts":
    "imports no other package; polls the kernel, which has no other clock",
  "packages/host-primitives/src/sockets/connect-vsock.ts":
    "imports no other package; polls the kernel, which has no other clock",
  "packages/host-primitives/src/sockets/accept-connections.ts":
    "imports no other package; polls the kernel, which has no other clock",
  "packages/lab/src/libvirtd.ts": "a fixture of the host tier: waits for a real daemon",
  "packages/lab/src/pod-fixture.ts": "a fixture of the host tier",
  "packages/lab/src/sandbox.ts": "a fixture of the host tier: waits for a real process",
  "packages/network-setup/src/apply/nat.ts": "ends a real program that hangs, and nothing else",
  "packages/launcher/src/process/main.ts": "the program itself: keeps its process, and never ticks",
};

/** How time and randomness look in code without comments. @type {Record<string, RegExp>} */
const forbidden = {
  "node:timers": /["']node:timers(?:\/promises)?["']/,
  setTimeout: /(?:(?<![.\w#$])|\bglobalThis\.)setTimeout\b/,
  setInterval: /(?:(?<![.\w#$])|\bglobalThis\.)setInterval\b/,
  "Date.now": /\bDate\s*\.\s*now\b/,
  "performance.now": /\bperformance\s*\.\s*now\b/,
  "process.hrtime": /\bhrtime\b/,
  "AbortSignal.timeout": /\bAbortSignal\s*\.\s*timeout\b/,
  "new Date()": /\bnew\s+Date\b(?!\s*\(\s*[^)\s])/,
  "Math.random": /\bMath\s*\.\s*random\b/,
  randomUUID: /\brandomUUID\b/,
};

/** An ignored failure that is logged, or whose comment says why nobody needs to know. */
const outspoken = /^packages\/(domain-manager|kube|launcher|local|network-setup|node-agent)\//;

/**
 * The faults of one source file: time and randomness that are not parameters, and failures that vanish
 * silently.
 *
 * @param {string} file relative to the workspace, with slashes
 * @param {string} text
 * @returns {string[]}
 */
export function sourceFaults(file, text) {
  const lines = text.split("\n");
  const isHome = homes.some((home) => file.startsWith(home));
  const isExcepted = isHome || Object.hasOwn(exceptions, file);
  const faults = isExcepted ? [] : timeFaults(lines);
  if (outspoken.test(file)) faults.push(...silenceFaults(lines));
  return faults.map(({ line, what }) => `${file}:${line}: ${what}`);
}

/** @typedef {{ line: number, what: string }} Fault */

/** @param {string[]} lines @returns {Fault[]} */
function timeFaults(lines) {
  return lines.flatMap((text, index) => {
    const code = text.replace(/^\s*(?:\/?\*|\/\/).*/, "").replace(/\s\/\/ .*/, "");
    return Object.entries(forbidden)
      .filter(([, pattern]) => pattern.test(code))
      .map(([name]) => ({
        line: index + 1,
        what: `${name} is not a parameter; take a clock, now or random of @virtkit/api/clock and /random`,
      }));
  });
}

const silent = [
  /\bcatch \{/,
  /\.catch\(\(\) =>/,
  /\.on(?:ce)?\("error", \(\) => (?:undefined|\{\})/,
];

/** @param {string[]} lines @returns {Fault[]} */
function silenceFaults(lines) {
  const what = "a failure is swallowed; log it, or say in a comment why nobody needs to know";
  const isComment = (/** @type {string | undefined} */ line) => /^\s*(?:\/\/|\*)/.test(line ?? "");
  return lines.flatMap((text, index) => {
    const [before, after] = [lines[index - 1], lines[index + 1]];
    const isTold = isComment(before) || isComment(after) || /^\s*throw /.test(after ?? "");
    const isSilent = silent.some((pattern) => pattern.test(text));
    return isSilent && !isTold ? [{ line: index + 1, what }] : [];
  });
}

/** Exceptions that no file needs any more. @param {(file: string) => string | undefined} read */
export function staleExceptions(read) {
  return Object.keys(exceptions)
    .filter((file) => timeFaults((read(file) ?? "").split("\n")).length === 0)
    .map((file) => `${file}: needs no exception in tools/checks/source-rules.mjs; remove it`);
}

/** {@link sourceFaults} of all packages, except for tests and their fixtures. @param {string} root */
export async function checkSourceRules(root) {
  const files = workspaceMembers(root)
    .filter(({ folder }) => folder.startsWith("packages/"))
    .flatMap(({ folder }) => sourcesIn(root, `${folder}/src`));
  const read = (/** @type {string} */ file) => readFileSync(path.join(root, file), "utf8");
  const faults = files.flatMap((file) => sourceFaults(file, read(file)));
  faults.push(...staleExceptions((file) => (files.includes(file) ? read(file) : undefined)));
  return { ok: faults.length === 0, output: faults.join("\n") };
}

/** @param {string} root @param {string} folder @returns {string[]} */
function sourcesIn(root, folder) {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.split(path.sep).join("/")}`)
    .filter(
      (file) =>
        file.endsWith(".ts") && !/\.(?:test|bench)\.ts$|\/src\/(?:.*\/)?testing\//.test(file),
    );
}
