import { currentContainer } from "./controller-steps.ts";
import {
  bootOfNode,
  container,
  containerOf,
  incarnationCount,
  isLost,
  kubeletOnline,
  nodeOf,
  nodeOfPod,
  pod,
  podOf,
  podState,
  report,
  reportOf,
  setBoot,
  setContainer,
  setReport,
} from "./layout.ts";
import type { World } from "./world.ts";

/** The kubelet of each node, as long as it is in its right mind. */
export function kubeletSteps(w: World): void {
  for (let p = 0; p < w.pods; p++) keepPod(w, p);
  for (let inc = 0; inc < incarnationCount; inc++) reportEnd(w, inc);
}

function keepPod(w: World, p: number): void {
  const { s } = w;
  const state = podState(s, p);
  if (state === pod.none || !kubeletOnline(s, nodeOfPod(p))) return;
  if (state === pod.present && containerOf(s, p) === container.none) {
    const n = w.begin();
    setContainer(n, p, container.alive);
    setBoot(n, p, bootOfNode(s, nodeOfPod(p)));
    w.fair("kubelet: starts a launcher");
  }
  const inc = currentContainer(s, p);
  if (state === pod.present || containerOf(s, inc) !== container.alive) return;
  w.begin();
  w.kill(inc);
  w.fair("kubelet: ends a launcher whose Pod is deleted");
}

function reportEnd(w: World, inc: number): void {
  const { s } = w;
  if (containerOf(s, inc) !== container.dead || reportOf(s, inc) !== report.none) return;
  const isListed = podState(s, podOf(s, inc)) !== pod.gone;
  if (!isListed || isLost(s, inc) || !kubeletOnline(s, nodeOf(s, inc))) return;
  setReport(w.begin(), inc, report.terminated);
  w.fair("kubelet: reports that a launcher has ended");
}
