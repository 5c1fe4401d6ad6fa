import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./setup.mjs";

/** @typedef {Record<string, any>} KubeObject */

/** The package `api` as it was built. */
const { firstOpenHandoff, handoffs, whyVm } = await import(
  pathToFileURL(path.join(root, "packages/api/dist/timeline/index.js")).href
);

/** Conditions that people look for. */
const shown = ["Ready", "AgentConnected", "LiveMigratable", "Paused", "Synchronized"];

/** The keys that open the consoles of the VMIs, in their order. Not q, which ends the view. */
export const consoleKeys = "123456789abcdefghijklmnoprstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** The indentation of the lines below the name of a VM or VMI. */
const indent = "     ";

/**
 * @typedef {object} SeenObjects
 * @property {readonly KubeObject[]} vms
 * @property {readonly KubeObject[]} vmis
 * @property {readonly KubeObject[]} pods
 * @property {readonly KubeObject[]} events
 * @property {readonly KubeObject[]} dataVolumes
 */

/**
 * The VMs and VMIs of a cluster as lines for people, by name: where each VMI is, how far it has come, what it waits for, and
 * its conditions; the status of its VM; and why a VM has no VMI. Each VMI has the key of its console before its name.
 * @param {SeenObjects} objects
 * @param {number} now in milliseconds since the epoch
 * @param {number} [columns] how wide a line may be
 * @returns {string[]}
 */
export function describeGuests(objects, now, columns = Number.POSITIVE_INFINITY) {
  const { vms, vmis } = objects;
  const below = (/** @type {string[]} */ parts, separator = "  ") =>
    wrap(parts, separator, columns - indent.length).map((line) => `${indent}${line}`);
  const titled = (/** @type {string} */ key, /** @type {string[]} */ parts) => {
    const [first = "", ...more] = wrap([`${key}  ${parts[0]}`, ...parts.slice(1)], "  ", columns);
    return [first, ...more.map((line) => `${indent}${line}`)];
  };
  const running = vmis.map((vmi, index) => {
    const vm = vms.find((each) => nameOf(each) === nameOf(vmi));
    const { where, steps, open, told } = factsOf(vmi, objects);
    const lines = [
      ...titled(consoleKeys[index] ?? "-", [nameOf(vmi), ...where]),
      ...below(steps, " > "),
      ...(open ? below(open.split(" "), " ") : []),
      ...below(told),
      ...(vm ? below([`VM: ${statusOf(vm)}`]) : []),
    ];
    return { name: nameOf(vmi), lines };
  });
  const names = new Set(vmis.map(nameOf));
  const others = vms
    .filter((vm) => !names.has(nameOf(vm)))
    .map((vm) => {
      const own = (/** @type {KubeObject} */ { metadata: { namespace } }) =>
        namespace === vm["metadata"].namespace;
      const [events, dataVolumes] = [objects.events.filter(own), objects.dataVolumes.filter(own)];
      const { reason } = whyVm({ vm, events, dataVolumes, now });
      const title = titled("-", [nameOf(vm), `VM: ${statusOf(vm)}`, "no VMI"]);
      return { name: nameOf(vm), lines: [...title, ...below(reason.split(" "), " ")] };
    });
  const all = [...running, ...others].sort((one, other) => (one.name < other.name ? -1 : 1));
  if (all.length === 0) return ["There are no VMs or VMIs."];
  // What Pods and guests report may have control characters, which a terminal would obey.
  return all.flatMap(({ lines }) => lines.map((line) => line.replace(/\p{Cc}+/gu, " ")));
}

/** @param {KubeObject} object */
function nameOf({ metadata }) {
  return `${metadata.namespace}/${metadata.name}`;
}

/** @param {KubeObject} vm @returns {string} */
function statusOf({ status = {} }) {
  return status.printableStatus ?? "no status yet";
}

/** @param {KubeObject} vmi @param {SeenObjects} objects */
function factsOf(vmi, { pods, events }) {
  const { metadata, status = {} } = vmi;
  const pod = launcherPod(vmi, pods);
  const list = handoffs({ vmi, pod, events });
  const open = firstOpenHandoff(list);
  const address = status.interfaces?.[0]?.ipAddress ?? "no address yet";
  return {
    where: [
      ...[status.phase ?? "Pending", status.nodeName ?? "no node yet", address],
      ...moving(status.migrationState),
    ],
    steps: progress(list, Date.parse(metadata.creationTimestamp)),
    open: open && `${open.state} ${open.stage}: ${open.reason ?? `by ${open.by}`}`,
    told: conditions(status.conditions ?? []),
  };
}

/**
 * The Pod of a VMI on its node; before it has one, the newest. A VMI that moves, or whose Pod was replaced, has several.
 * @param {KubeObject} vmi
 * @param {readonly KubeObject[]} pods
 */
function launcherPod({ metadata: { uid }, status = {} }, pods) {
  const own = pods.filter((pod) =>
    pod["metadata"].ownerReferences?.some(
      (/** @type {KubeObject} */ owner) => owner["uid"] === uid,
    ),
  );
  const created = (/** @type {KubeObject} */ pod) => `${pod["metadata"].creationTimestamp}`;
  const byAge = own.toSorted((one, other) => (created(one) < created(other) ? -1 : 1));
  const here = byAge.filter((pod) => pod["spec"]?.nodeName === status.nodeName);
  return here.at(-1) ?? byAge.at(-1);
}

/** A migration that is under way. @param {KubeObject | undefined} migration @returns {string[]} */
function moving({ completed, targetNode } = {}) {
  return targetNode && !completed ? [`moving to ${targetNode}`] : [];
}

/**
 * The whole screen: the part that never changes, and below it as much of the rest as fits.
 * @param {readonly string[]} head
 * @param {readonly string[]} lines
 * @param {{ columns: number, rows: number }} size
 * @returns {string[]}
 */
export function fitScreen(head, lines, { columns, rows }) {
  const top = head.flatMap((line) =>
    line.startsWith(" ") ? line : wrap(line.split(" "), " ", columns),
  );
  // Lines to be copied are not broken: the terminal wraps them.
  const taken = top.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
  // The cursor is in the last row.
  const room = Math.max(1, rows - taken - 1);
  if (lines.length <= room) return [...top, ...lines];
  const hidden = lines.length - (room - 1);
  const note = `... ${hidden} more ${hidden === 1 ? "line" : "lines"}: the terminal is too small`;
  return [...top, ...lines.slice(0, room - 1), note.slice(0, columns)];
}

/**
 * Puts parts on as few lines as possible. A part that is wider than a line gets its own line.
 * @param {readonly string[]} parts
 * @param {string} separator
 * @param {number} width
 */
function wrap(parts, separator, width) {
  const after = separator.trimEnd();
  /** @type {string[]} */
  const lines = [];
  for (const [index, part] of parts.entries()) {
    const last = lines.pop();
    const joined = last === undefined ? part : `${last}${separator}${part}`;
    const isFull = joined.length + (index < parts.length - 1 ? after.length : 0) > width;
    if (last !== undefined && isFull) lines.push(`${last}${after}`, part);
    else lines.push(joined);
  }
  return lines;
}

/** @param {readonly KubeObject[]} list @param {number} start */
function progress(list, start) {
  const done = list.filter(({ state }) => state === "done");
  const parts = done.map(({ stage, at }) => {
    const seconds = at === undefined ? Number.NaN : (Date.parse(at) - start) / 1000;
    return Number.isNaN(seconds) ? stage : `${stage} ${Math.max(0, seconds).toFixed(0)} s`;
  });
  return parts.length > 0 ? parts : ["nothing has happened yet"];
}

/** @param {readonly KubeObject[]} all */
function conditions(all) {
  const told = all.filter(({ type }) => shown.includes(type));
  const parts = told.map(({ type, status, reason }) =>
    status === "True" || !reason ? `${type}=${status}` : `${type}=${status} (${reason})`,
  );
  return parts.length > 0 ? parts : ["no conditions yet"];
}
