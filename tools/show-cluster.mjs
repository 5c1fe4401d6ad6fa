import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openConsole } from "./cluster-console.mjs";
import { describeVmis } from "./cluster-view.mjs";

/** @typedef {import("../packages/lab/src/cluster/cluster.ts").Cluster} Cluster */
/** @typedef {Record<string, any>} KubeObject */

/**
 * Shows the VMIs of a cluster and how far each has come, until Ctrl-C. On a terminal the number of a VMI opens its console;
 * elsewhere what has changed is written.
 * @param {Cluster} cluster
 * @param {AbortSignal} interrupted
 * @returns {Promise<number>} the exit code
 */
export async function showCluster(cluster, interrupted) {
  const help = usage(cluster.kubeconfig);
  const keys = process.stdin.isTTY && process.stdout.isTTY ? takeKeys() : undefined;
  process.stdout.write(`${help}\n`);
  let last = "";
  try {
    while (!interrupted.aborted && !keys?.isOver) {
      const objects = await readObjects(cluster).catch(() => undefined);
      const text = objects ? describeVmis(objects).join("\n") : "The API server does not answer.";
      const chosen = objects?.vmis[Number(keys?.take()) - 1];
      if (keys && chosen) await keys.without(() => visit(cluster.kubeconfig, chosen));
      if (keys) process.stdout.write(`\x1b[2J\x1b[H${help}\n\n${text}\n`);
      else if (text !== last) process.stdout.write(`${text}\n`);
      last = text;
      await aSecond(() => interrupted.aborted || keys?.isWaiting === true);
    }
    return 0;
  } finally {
    keys?.stop();
  }
}

/** @param {() => boolean} isOver */
async function aSecond(isOver) {
  for (let tenth = 0; tenth < 10 && !isOver(); tenth++) await sleep(100);
}

/** @param {string} kubeconfig */
function usage(kubeconfig) {
  const kubectl = path.join(process.env["VIRTKIT_KUBERNETES"] ?? "", "kubectl");
  return [
    "A number opens the console of that VMI; Ctrl-C ends the cluster. In another terminal:",
    `  export KUBECONFIG=${kubeconfig}; alias kubectl=${kubectl}`,
    "  kubectl get vm,vmi,pods -A -o wide",
  ].join("\n");
}

/** @param {string} kubeconfig @param {KubeObject} vmi */
async function visit(kubeconfig, vmi) {
  const { namespace, name } = vmi["metadata"];
  process.stdout.write(`Console of ${namespace}/${name}; Ctrl-] leaves it.\r\n`);
  const why = await openConsole(kubeconfig, { namespace, name });
  process.stdout.write(`\r\n${why}\r\n`);
  await sleep(1_000);
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
    /** While somebody else reads the keys. @param {() => Promise<void>} action */
    async without(action) {
      stdin.off("data", onData);
      await action();
      stdin.on("data", onData);
    },
    stop() {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

/** @param {Cluster} cluster */
async function readObjects(cluster) {
  /** @returns {Promise<KubeObject[]>} */
  const list = async (/** @type {string} */ place) => {
    const { body } = await cluster.request(place);
    return /** @type {{ items?: KubeObject[] }} */ (body).items ?? [];
  };
  const [vmis, pods, events] = await Promise.all([
    list("/apis/kubevirt.io/v1/virtualmachineinstances"),
    list("/api/v1/pods?labelSelector=kubevirt.io=virt-launcher"),
    list("/api/v1/events?limit=500"),
  ]);
  return { vmis: vmis ?? [], pods: pods ?? [], events: events ?? [] };
}
