import { KubeConfig } from "@kubernetes/client-node";
import { Election, fencedClient } from "@virtkit/kube/election";
import { kubeconfigClient } from "@virtkit/kube/kubeconfig";
import { servicePerVmi } from "./service-per-vmi.mjs";

const config = new KubeConfig();
config.loadFromDefault();
const client = kubeconfigClient(config);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const election = new Election({ client, namespace: "default", name: "service-per-vmi" });
await election.lead((lead) => servicePerVmi(fencedClient(client, lead)).run(lead), stop);
