import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openConsole } from "./cluster-console.mjs";
import { consoleKeys, describeGuests, fitScreen } from "./cluster-view.mjs";

/** @typedef {import("../packages/lab/src/cluster/cluster.ts").Cluster} Cluster */
/** @typedef {Record<string, any>} KubeObject */

/**
 * Moves the cursor home, and erases the rest of each line and everything below the last one. Clearing the whole screen first
 * would flicker.
 */
const [home, eraseRight, eraseBelow] = ["\x1b[H", "\x1b[K", "\x1b[J"];

/**
 * Shows the VMs and VMIs of a cluster and how far each has come, until Ctrl-C. On a terminal, the key before a VMI opens its
 * console; elsewhere, only changes are written.
 * @param {Cluster} cluster
 * @param {AbortSignal} interrupted
 * @returns {Promise<number>} the exit code
 */
export async function showCluster(cluster, interrupted) {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  await (isTerminal ? showScreen(cluster, interrupted) : showChanges(cluster, interrupted));
  return 0;
}

/** @param {Cluster} cluster @param {AbortSignal} interrupted */
async function showChanges(cluster, interrupted) {
  process.stdout.write(`${usage(cluster.kubeconfig).join("\n")}\n`);
  let last = "";
  while (!interrupted.aborted) {
    const text = linesOf(await readObjects(cluster)).join("\n");
    if (text !== last) process.stdout.write(`${text}\n`);
    last = text;
    await aSecond(() => interrupted.aborted);
  }
}

/** @param {Cluster} cluster @param {AbortSignal} interrupted */
async function showScreen(cluster, interrupted) {
  const keys = takeKeys();
  const help = [
    "The digit or letter before a VMI opens its console.",
    ...usage(cluster.kubeconfig),
  ];
  /** The result of the last key. */
  let note = "";
  let last = "";
  try {
    while (!interrupted.aborted && !keys.isOver) {
      const { columns = 80, rows = 24 } = process.stdout;
      const objects = await readObjects(cluster);
      const key = keys.take();
      const chosen = objects?.vmis[indexOfKey(key)];
      if (chosen) {
        note = await keys.without(() => visit(cluster.kubeconfig, chosen, interrupted));
        last = "";
      } else if (key) note = indexOfKey(key) >= 0 ? `There is no VMI ${key}.` : "";
      // Above the list, which may be longer than the screen.
      const head = note ? [...help, note, ""] : help;
      const text = fitScreen(head, linesOf(objects, columns), { columns, rows })
        .map((line) => `${line}${eraseRight}\n`)
        .join("");
      if (text !== last) process.stdout.write(`${home}${text}${eraseBelow}`);
      last = text;
      await aSecond(() => interrupted.aborted || keys.isWaiting);
    }
  } finally {
    keys.stop();
  }
}

/** The VMI that a key opens, by its index; -1 for other keys. @param {string} key */
function indexOfKey(key) {
  return key ? consoleKeys.indexOf(key) : -1;
}

/** @param {Awaited<ReturnType<typeof readObjects>>} objects @param {number} [columns] */
function linesOf(objects, columns) {
  return objects
    ? describeGuests(objects, Date.now(), columns)
    : ["The API server does not answer."];
}

/** @param {() => boolean} isOver */
async function aSecond(isOver) {
  for (let tenth = 0; tenth < 10 && !isOver(); tenth++) await sleep(100);
}

/** @param {string} kubeconfig */
function usage(kubeconfig) {
  const kubectl = path.join(process.env["VIRTKIT_KUBERNETES"] ?? "", "kubectl");
  return [
    // Whoever started this is root; the kubeconfig is for nobody else.
    "Ctrl-C ends the cluster. In another terminal, as root (sudo -s):",
    `  export KUBECONFIG=${kubeconfig}`,
    `  alias kubectl=${kubectl}`,
    "  kubectl get vm,vmi,pods -A -o wide",
    "",
  ];
}

/**
 * @param {string} kubeconfig
 * @param {KubeObject} vmi
 * @param {AbortSignal} interrupted
 * @returns {Promise<string>} a message about it, or nothing
 */
async function visit(kubeconfig, vmi, interrupted) {
  const { namespace, name } = vmi["metadata"];
  const which = `${namespace}/${name}`;
  process.stdout.write(
    `${home}${eraseBelow}Console of ${which}. Ctrl-] leaves it; Enter wakes it.\r\n`,
  );
  const why = await openConsole(kubeconfig, { namespace, name }, interrupted);
  // A guest may have set colours, a region that scrolls, or hidden the cursor.
  process.stdout.write("\x1b[!p\x1b[0m\x1b[?25h\x1b[2J");
  return why && `Console of ${which}: ${why}.`;
}

/** Keys of the terminal, one at a time. Ctrl-C and q end it: a raw terminal sends no signal. */
function takeKeys() {
  const { stdin } = process;
  let key = "";
  const state = { isOver: false };
  const onData = (/** @type {Buffer} */ data) => {
    key = data.toString("latin1").slice(-1);
    if (key === "\x03" || key === "q") state.isOver = true;
  };
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("data", onData);
  return {
    get isOver() {
      return state.isOver;
    },
    get isWaiting() {
      return key !== "";
    },
    take() {
      const taken = key;
      key = "";
      return taken;
    },
    /**
     * Runs an action while another reader gets the keys.
     * @template T
     * @param {() => Promise<T>} action
     */
    async without(action) {
      stdin.off("data", onData);
      const result = await action();
      stdin.on("data", onData);
      return result;
    },
    stop() {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

/**
 * @param {Cluster} cluster
 * @returns {Promise<import("./cluster-view.mjs").SeenObjects | undefined>} nothing if one of the answers is missing
 */
async function readObjects(cluster) {
  /** @returns {Promise<KubeObject[]>} */
  const list = async (/** @type {string} */ place, mayBeMissing = false) => {
    const { status, body } = await cluster.request(place);
    if (status === 404 && mayBeMissing) return [];
    // What an error says is not that there are none.
    if (status !== 200) throw new Error(`${place}: ${status}`);
    return /** @type {{ items?: KubeObject[] }} */ (body).items ?? [];
  };
  try {
    const [vms = [], vmis = [], pods = [], events = [], dataVolumes = []] = await Promise.all([
      list("/apis/kubevirt.io/v1/virtualmachines"),
      list("/apis/kubevirt.io/v1/virtualmachineinstances"),
      list("/api/v1/pods?labelSelector=kubevirt.io=virt-launcher"),
      list("/api/v1/events?limit=500"),
      // Without CDI there are none.
      list("/apis/cdi.kubevirt.io/v1beta1/datavolumes", true),
    ]);
    return { vms, vmis, pods, events, dataVolumes };
  } catch {
    // The next request follows a second later, and the screen says that the API server does not answer.
    return undefined;
  }
}
