import { startApiServer } from "./api-server.mjs";

/** Starts one API server for all files of the cluster tier; they find it through the environment. */
export async function setup() {
  const kubeApiserver = process.env["VIRTKIT_KUBE_APISERVER"];
  if (!kubeApiserver) throw new Error("run the cluster tier with: npm run test:cluster");
  const { kubeconfig, stop } = await startApiServer({ kubeApiserver });
  process.env["VIRTKIT_APISERVER_KUBECONFIG"] = kubeconfig;
  return stop;
}
