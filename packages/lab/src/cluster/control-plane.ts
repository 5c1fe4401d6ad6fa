import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@virtkit/api/clock";
import { LabError } from "../lab-error.ts";
import { runProgram } from "../run-program.ts";
import { apiRequest } from "./api-request.ts";
import { keysDirectory, kubeconfigFile } from "./cluster-keys.ts";
import type { ClusterLayout } from "./cluster-layout.ts";
import { Supervisor } from "./supervisor.ts";
import { programScript, supervisorScript } from "./supervisor-script.ts";

/** What stands for a node where a program of the control plane is stopped or started. */
export const controlPlane = "control-plane";

/**
 * Starts etcd and the API server and, once that is ready, the controllers and the scheduler. They
 * are processes of this host, at its end of the bridge.
 */
export async function startControlPlane(
  layout: ClusterLayout,
  programs: string,
  { audit, signal }: { readonly audit: boolean; readonly signal: AbortSignal | undefined },
): Promise<Supervisor> {
  const directory = join(layout.directory, controlPlane);
  await mkdir(join(directory, "log"), { recursive: true });
  if (audit) await writeFile(join(directory, "audit.json"), JSON.stringify(auditPolicy));
  for (const [name, flags] of Object.entries(controlPlaneFlags(layout, directory))) {
    const more = audit && name === "kube-apiserver" ? auditFlags(directory) : [];
    const script = programScript(name, [...flags, ...more], { directory, programs });
    await writeFile(join(directory, name), script);
  }
  const logs = join(directory, "log");
  const supervisor = await Supervisor.start(supervisorScript(directory, logs), ["mount", "pid"]);
  try {
    supervisor.startProgram("etcd");
    supervisor.startProgram("kube-apiserver");
    const options = { interval: 50, timeout: 120_000, signal };
    if (!(await until(() => isReady(layout), options))) throw await notReady(logs);
    supervisor.startProgram("kube-controller-manager");
    supervisor.startProgram("kube-scheduler");
    return supervisor;
  } catch (error) {
    await supervisor.kill();
    throw error;
  }
}

/** Writes alone, once each, with what was asked for. */
const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Request", verbs: ["create", "update", "patch", "delete", "deletecollection"] },
    { level: "None" },
  ],
};

function auditFlags(directory: string): string[] {
  return [
    `--audit-policy-file=${directory}/audit.json`,
    `--audit-log-path=${directory}/log/audit.log`,
  ];
}

/** Kills a program of the control plane, and keeps it stopped. */
export async function stopControlProgram(
  { directory }: ClusterLayout,
  supervisor: Supervisor,
  program: string,
): Promise<void> {
  const own = join(directory, controlPlane, program);
  await writeFile(`${own}.off`, "");
  const pid = (await readFile(`${own}.pid`, "utf8")).trim();
  await runProgram(...supervisor.command("kill", ["-KILL", pid]));
}

/** Lets a stopped program of the control plane start again; does not wait for that. */
export async function startControlProgram(
  { directory }: ClusterLayout,
  program: string,
): Promise<void> {
  await rm(join(directory, controlPlane, `${program}.off`), { force: true });
}

/** The flags of each program, in the order in which they start. */
function controlPlaneFlags(
  layout: ClusterLayout,
  directory: string,
): Record<string, readonly string[]> {
  const etcd = `http://${layout.loopback}:2379`;
  const peer = `http://${layout.loopback}:2380`;
  // Nobody asks them over the network, and there is one of each.
  const alone = ["--leader-elect=false", "--secure-port=0", "--profiling=false"];
  return {
    etcd: [
      `--data-dir=${directory}/data`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      // The data lives as long as the cluster: durability would only cost time.
      "--unsafe-no-fsync=true",
      "--log-level=warn",
    ],
    "kube-apiserver": apiServerFlags(layout, etcd),
    "kube-controller-manager": [
      ...alone,
      `--kubeconfig=${kubeconfigFile(layout, "controllers")}`,
      `--service-account-private-key-file=${keysDirectory(layout)}/service-accounts.key`,
      `--root-ca-file=${keysDirectory(layout)}/ca.crt`,
      "--use-service-account-credentials=false",
      // A node is lost after 8 silent seconds.
      "--node-monitor-period=1s",
      "--node-monitor-grace-period=8s",
    ],
    "kube-scheduler": [...alone, `--kubeconfig=${kubeconfigFile(layout, "scheduler")}`],
  };
}

function apiServerFlags(layout: ClusterLayout, etcd: string): string[] {
  const { hostAddress, apiPort, serviceNetwork } = layout;
  const keys = keysDirectory(layout);
  return [
    `--etcd-servers=${etcd}`,
    `--bind-address=${hostAddress}`,
    `--advertise-address=${hostAddress}`,
    `--secure-port=${apiPort}`,
    `--tls-cert-file=${keys}/apiserver.crt`,
    `--tls-private-key-file=${keys}/apiserver.key`,
    `--client-ca-file=${keys}/ca.crt`,
    `--token-auth-file=${keys}/tokens.csv`,
    `--kubelet-client-certificate=${keys}/kubelet-client.crt`,
    `--kubelet-client-key=${keys}/kubelet-client.key`,
    "--kubelet-preferred-address-types=InternalIP",
    `--requestheader-client-ca-file=${keys}/ca.crt`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${keys}/front-proxy.crt`,
    `--proxy-client-key-file=${keys}/front-proxy.key`,
    // Webhooks and aggregated APIs are called at the endpoints of their Service: this host has no kube-proxy.
    "--enable-aggregator-routing=true",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    `--service-cluster-ip-range=${serviceNetwork}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${keys}/service-accounts.key`,
    `--service-account-signing-key-file=${keys}/service-accounts.key`,
    "--allow-privileged=true",
    "--profiling=false",
  ];
}

async function isReady(layout: ClusterLayout): Promise<boolean> {
  try {
    return (await apiRequest(kubeconfigFile(layout, "admin"), "/readyz")).status === 200;
  } catch {
    // Not yet; the logs say why, if it stays so.
    return false;
  }
}

async function notReady(logs: string): Promise<LabError> {
  const ends = await Promise.all(
    ["etcd", "kube-apiserver"].map(async (name) => {
      const log = await readFile(join(logs, `${name}.log`), "utf8").catch(() => "no log");
      return `${name}: ${log.trimEnd().split("\n").slice(-3).join("\n")}`;
    }),
  );
  return new LabError("LAB_NOT_READY", `the API server did not start:\n${ends.join("\n")}`);
}
