/** @typedef {{ mode: "local", once: boolean }} LocalStart */
/** @typedef {{ mode: "cluster", once: boolean, dev: boolean }} ClusterStart */
/** @typedef {{ mode: "explain", file: string | undefined }} Explanation */
/** @typedef {{ mode: "help" }} Help */

export const help = `Usage: npm start -- [OPTION]...

Boots the VM of examples/vms/demo.yaml on this host, shows its console, and moves it into another sandbox while it answers
requests. Needs Linux and root: sudo npm start.

  --once            boots the VM, reaches it, moves it, stops it, prints how long each handoff took, and ends
  --cluster         boots the VMs of examples/vms in a Kubernetes cluster with two nodes, which it starts on this host
  --cluster --once  boots one VM there until it is ready, reaches it, stops it, removes everything, and ends
  --dev             with --cluster: runs the components from this working tree; one restarts when its files are built
  --explain [FILE]  boots nothing, and needs no root: shows what a VM becomes at each stage
`;

const known = ["--once", "--cluster", "--dev", "--explain"];
const usage = "use --once, --cluster [--once] [--dev], or --explain [FILE]";

/**
 * What `npm start -- ARGS` asks for, in any order. Nothing is ignored: what does not fit together is refused.
 * @param {readonly string[]} args
 * @returns {LocalStart | ClusterStart | Explanation | Help}
 */
export function startOptions(args) {
  if (args.includes("--help") || args.includes("-h")) return { mode: "help" };
  const flags = args.filter((arg) => arg.startsWith("-"));
  const files = args.filter((arg) => !arg.startsWith("-"));
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown) throw new Error(`${unknown} is not an option; ${usage}`);
  const [once, cluster, dev, explain] = known.map((flag) => flags.includes(flag));
  if (explain && (once || cluster || dev)) {
    throw new Error(`--explain boots nothing, so it has no other options; ${usage}`);
  }
  if (files.length > (explain ? 1 : 0)) {
    throw new Error(`"${files.at(-1)}" is not an option; ${usage}`);
  }
  if (explain) return { mode: "explain", file: files[0] };
  if (cluster) return { mode: "cluster", once: once === true, dev: dev === true };
  if (dev)
    throw new Error(`--dev is for the components in a cluster; add --cluster, or leave it out`);
  return { mode: "local", once: once === true };
}
