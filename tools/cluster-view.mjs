import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./setup.mjs";

/** @typedef {Record<string, any>} KubeObject */

/** The package `api` as it was built. */
const { firstOpenHandoff, handoffs } = await import(
  pathToFileURL(path.join(root, "packages/api/dist/timeline/index.js")).href
);

/** Conditions that a person looks for. */
const shown = ["Ready", "AgentConnected", "LiveMigratable", "Paused", "Synchronized"];

/**
 * The VMIs of a cluster as lines for a person: where each is, how far it has come, what it waits for, and its conditions.
 * @param {{ vmis: readonly KubeObject[], pods: readonly KubeObject[], events: readonly KubeObject[] }} objects
 * @returns {string[]}
 */
export function describeVmis({ vmis, pods, events }) {
  if (vmis.length === 0) return ["There are no VMIs."];
  return vmis.flatMap((vmi, index) => {
    const { metadata, status = {} } = vmi;
    const pod = pods.find((each) =>
      each["metadata"].ownerReferences?.some(
        (/** @type {KubeObject} */ { uid }) => uid === metadata.uid,
      ),
    );
    const list = handoffs({ vmi, pod, events });
    const open = firstOpenHandoff(list);
    const address = status.interfaces?.[0]?.ipAddress ?? "no address yet";
    const name = `${metadata.namespace}/${metadata.name}`;
    return [
      `${index + 1}  ${name}  ${status.phase ?? "Pending"}  ${status.nodeName ?? "no node yet"}  ${address}`,
      `     ${progress(list, Date.parse(metadata.creationTimestamp))}`,
      ...(open ? [`     ${open.state} ${open.stage}: ${open.reason ?? `by ${open.by}`}`] : []),
      `     ${conditions(status.conditions ?? [])}`,
    ];
  });
}

/** @param {readonly KubeObject[]} list @param {number} start */
function progress(list, start) {
  const done = list.filter(({ state }) => state === "done");
  const parts = done.map(({ stage, at }) => {
    const seconds = at === undefined ? Number.NaN : (Date.parse(at) - start) / 1000;
    return Number.isNaN(seconds) ? stage : `${stage} ${Math.max(0, seconds).toFixed(0)} s`;
  });
  return parts.join(" > ") || "nothing has happened yet";
}

/** @param {readonly KubeObject[]} all */
function conditions(all) {
  const told = all.filter(({ type }) => shown.includes(type));
  const parts = told.map(({ type, status, reason }) =>
    status === "True" || !reason ? `${type}=${status}` : `${type}=${status} (${reason})`,
  );
  return parts.join("  ") || "no conditions yet";
}
