/** @typedef {{ mode: "local", once: boolean }} LocalStart */
/** @typedef {{ mode: "cluster", once: boolean, dev: boolean }} ClusterStart */
/** @typedef {{ mode: "explain", file: string | undefined }} Explanation */

const known = ["--once", "--cluster", "--dev", "--explain"];
const usage = "use --once, --cluster [--once] [--dev], or --explain [FILE]";

/**
 * What `npm start -- ARGS` asks for, in any order. Nothing is ignored: what does not fit together is refused.
 * @param {readonly string[]} args
 * @returns {LocalStart | ClusterStart | Explanation}
 */
export function startOptions(args) {
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
