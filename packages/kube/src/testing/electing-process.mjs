import { appendFileSync, readFileSync } from "node:fs";
import { HttpClient } from "@virtkit/kube";
import { Election } from "@virtkit/kube/election";

/**
 * A candidate for a lease, as a program: `electing-process.mjs KUBECONFIG NAMESPACE LEASE IDENTITY FILE careful|trusting`.
 * While it leads, it writes the time of each action to the file, with its identity and term. A careful candidate checks its
 * lease before each action; a trusting one only waits for its signal.
 */
const [kubeconfig = "", namespace = "", name = "", identity = "", file = "", way] =
  process.argv.slice(2);
const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
const ca = readFileSync(clusters[0].cluster["certificate-authority"]);
const headers = { authorization: `Bearer ${users[0].user.token}` };
const server = clusters[0].cluster.server;
const client = new HttpClient({ server, credentials: async () => ({ headers, tls: { ca } }) });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

let term = 0;
const times = { leaseDuration: 3_000, margin: 1_000, renewEvery: 500 };
const election = new Election({ client, namespace, name, identity, ...times });
/** @param {import("@virtkit/kube/election").Leadership} leadership */
const work = async (leadership) => {
  term++;
  while (!leadership.signal.aborted) {
    // Before the check: a process that is frozen right after it was allowed to act at this time.
    const now = process.hrtime.bigint();
    if (way === "careful" && !leadership.isHeld()) break;
    appendFileSync(file, `${JSON.stringify({ now: String(now), identity, term })}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
await election.lead(work, { signal: stop.signal });
client.close();
