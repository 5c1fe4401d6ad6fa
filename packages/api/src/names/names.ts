import { type Directories, directories, type RootDirectories } from "./directories.ts";
import { type Sockets, sockets } from "./sockets.ts";
import {
  annotations,
  devices,
  finalizers,
  groups,
  kubevirtDomain,
  labels,
  nodeLabels,
  podConditions,
  taints,
} from "./well-known.ts";

/** Names that a platform can change. The default of each is KubeVirt's own name. */
export interface NamesOptions {
  /** Root of the API groups, and of finalizers, taints, Pod conditions and devices. */
  readonly group?: string;
  /** Prefix of labels. Default: the group. */
  readonly labelPrefix?: string;
  /** Prefix of annotations. Default: the group. */
  readonly annotationPrefix?: string;
  /** Prefix of the annotations that KubeVirt does not have. */
  readonly ownPrefix?: string;
  /** Directories in other places. */
  readonly directories?: Partial<RootDirectories>;
}

/** The keys of a table of well-known names. */
type Renamed<Table> = { readonly [Name in keyof Table]: string };

/** Every name that the objects, Pods and nodes of one platform share. */
export interface Names {
  /** The options that they were made from: plain JSON, from which another process makes the same names. */
  readonly options: NamesOptions;
  readonly group: string;
  readonly groups: Renamed<typeof groups>;
  readonly labels: Renamed<typeof labels>;
  readonly nodeLabels: Renamed<typeof nodeLabels>;
  readonly annotations: Renamed<typeof annotations>;
  readonly finalizers: Renamed<typeof finalizers>;
  readonly podConditions: Renamed<typeof podConditions>;
  readonly taints: Renamed<typeof taints>;
  readonly devices: Renamed<typeof devices>;
  readonly directories: Directories;
  readonly sockets: Sockets;
  /** An annotation of our own that KubeVirt does not have. */
  own(name: string): string;
}

/**
 * The well-known names of a platform: KubeVirt's, except for those that the options set.
 *
 * @example
 * ```ts
 * names().labels.createdBy; // "kubevirt.io/created-by"
 * names({ group: "vm.example.com" }).nodeLabels.cpuModel; // "cpu-model.node.vm.example.com/"
 * names().sockets.launcherOfPod("5d0c"); // "/pods/5d0c/volumes/kubernetes.io~empty-dir/sockets/launcher-sock"
 * ```
 */
export function names(options: NamesOptions = {}): Names {
  const {
    group = kubevirtDomain,
    labelPrefix = group,
    annotationPrefix = group,
    ownPrefix = "virtkit.io",
    directories: roots = {},
  } = options;
  const all = directories(roots);
  return {
    options,
    group,
    groups: rename(groups, group),
    labels: rename(labels, labelPrefix),
    nodeLabels: rename(nodeLabels, labelPrefix),
    annotations: rename(annotations, annotationPrefix),
    finalizers: rename(finalizers, group),
    podConditions: rename(podConditions, group),
    taints: rename(taints, group),
    devices: rename(devices, group),
    directories: all,
    sockets: sockets(all),
    own: (name) => `${ownPrefix}/${name}`,
  };
}

function rename<Table extends Readonly<Record<string, string>>>(
  table: Table,
  domain: string,
): Renamed<Table> {
  if (domain === kubevirtDomain) return table;
  const renamed = Object.entries(table).map(([name, text]) => [
    name,
    // A function, so that a `$` in the domain is not treated as a pattern.
    text.replace(kubevirtDomain, () => domain),
  ]);
  return Object.fromEntries(renamed) as Renamed<Table>;
}
