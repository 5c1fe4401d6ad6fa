import type { ClusterLayout, NodeLayout } from "./cluster-layout.ts";

/** Where a node sees the programs of Kubernetes. */
export const nodePrograms = "/opt/kubernetes";

/** Where a node sees what is in its own directory: the files of {@link nodeConfig}, and the keys. */
export const nodeOwn = "/opt/node";

/** The image of a Pod's sandbox. */
export const pauseReference = "localhost/virtkit/pause:1";

/** The files that the programs of a node read, by name. */
export function nodeConfig(cluster: ClusterLayout, node: NodeLayout): Record<string, string> {
  return {
    "containerd.toml": containerdConfig(),
    "cni.conflist": JSON.stringify(podNetworkConfig(node)),
    "kubelet.json": JSON.stringify(kubeletConfig(node)),
    "kube-proxy.json": JSON.stringify(proxyConfig(cluster, node)),
  };
}

/** The command line of each program of a node, in the order in which they start. */
export function nodeCommands({ name, address }: NodeLayout): Record<string, string[]> {
  return {
    containerd: ["--config", `${nodeOwn}/containerd.toml`, "--log-level", "warn"],
    kubelet: [
      `--config=${nodeOwn}/kubelet.json`,
      `--kubeconfig=${nodeOwn}/keys/kubelet.conf`,
      `--hostname-override=${name}`,
      `--node-ip=${address}`,
      "--v=2",
    ],
    "kube-proxy": [`--config=${nodeOwn}/kube-proxy.json`],
  };
}

/** Snapshotters and services of containerd that no node uses; each would slow down the start. */
const unusedPlugins = [
  ...["blockfile", "erofs", "native"].map((name) => `io.containerd.snapshotter.v1.${name}`),
  "io.containerd.nri.v1.nri",
  "io.containerd.monitor.container.v1.restart",
  "io.containerd.internal.v1.restart",
];

function containerdConfig(): string {
  const runtime = 'plugins."io.containerd.cri.v1.runtime"';
  const images = 'plugins."io.containerd.cri.v1.images"';
  return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ${JSON.stringify(unusedPlugins)}
[grpc]
address = "/run/containerd/containerd.sock"
[${images}]
snapshotter = "overlayfs"
[${images}.pinned_images]
sandbox = "${pauseReference}"
[${runtime}]
disable_apparmor = true
# Lower values than one's own need a capability that root does not have everywhere.
restrict_oom_score_adj = true
# Device nodes belong to the user that a container runs as.
device_ownership_from_security_context = true
[${runtime}.cni]
bin_dirs = ["/usr/lib/cni"]
conf_dir = "/etc/cni/net.d"
[${runtime}.containerd]
default_runtime_name = "runc"
[${runtime}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${runtime}.containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}

/**
 * A separate link to each Pod, not a bridge: on a bridge, the answer of a Service's Pod to a Pod on
 * the same node would bypass the node's address translation.
 */
function podNetworkConfig({ podNetwork }: NodeLayout): unknown {
  const routes = [{ dst: "0.0.0.0/0" }];
  const ipam = { type: "host-local", ranges: [[{ subnet: podNetwork }]], routes };
  const plugins = [{ type: "ptp", ipMasq: false, ipam }];
  return { cniVersion: "1.0.0", name: "pods", plugins };
}

function kubeletConfig({ cgroup }: NodeLayout): unknown {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${cgroup}`,
    enforceNodeAllocatable: ["pods"],
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: `${nodeOwn}/keys/ca.crt` },
    },
    authorization: { mode: "AlwaysAllow" },
    failSwapOn: false,
    oomScoreAdj: 0,
    readOnlyPort: 0,
    makeIPTablesUtilChains: false,
    resolvConf: "/etc/resolv.conf",
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    // A lost node is noticed after seconds, not minutes; see the controller manager's flags.
    nodeStatusUpdateFrequency: "2s",
    nodeLeaseDurationSeconds: 8,
    // The disk is the host's, and others fill it.
    evictionHard: { "memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
  };
}

function proxyConfig({ podNetwork }: ClusterLayout, { name }: NodeLayout): unknown {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    hostnameOverride: name,
    clusterCIDR: podNetwork,
    clientConnection: { kubeconfig: `${nodeOwn}/keys/proxy.conf` },
    // Connection tracking is sized for the whole host, not by a node.
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: "127.0.0.1:10256",
    metricsBindAddress: "127.0.0.1:10249",
  };
}
