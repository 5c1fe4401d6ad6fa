import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  explainLauncherPod,
  isLauncherPodError,
  kubevirtLauncherProfile,
  type LauncherProfile,
  lookupIn,
  renderLauncherPod,
  virtkitLauncherProfile,
} from "@virtkit/launcher-pod";
import { type ManifestDocument, readManifests } from "@virtkit/node-agent/manifests";
import { applyInstancetypes } from "../apply-instancetypes.ts";
import { complaint, complaintOf, isAboutInput } from "../complaint.ts";
import { type Io, writeAll } from "../io.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { place } from "../place.ts";
import { clusterObjects } from "../pod/cluster-objects.ts";
import { explainText } from "../pod/explain-text.ts";
import { describesVmi, readVmi } from "../pod/read-vmi.ts";
import { readConfig } from "../read-config.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit pod --help`. */
export const help = `Usage: virtkit pod -f FILE [-f FILE]... [OPTION]...

Prints the launcher Pod of each VirtualMachineInstance (or VirtualMachine) in manifests. Looks up what a Pod
depends on in the same manifests: claims, ConfigMaps, network attachment definitions, namespaces, quotas,
instance type and preference. A VMI without a phase gets its defaults first. A VMI that is not from a cluster
has no UID, so the Pod's owner reference has no UID either.

  -f, --filename FILE      YAML or JSON with any number of objects; - is stdin; may be repeated
      --explain            say where each container, volume, resource, selector and annotation comes
                           from, and what the memory overhead consists of
      --config FILE        the KubeVirt object, or its spec.configuration, of the cluster
      --launcher NAME      whose launcher the Pod starts: virtkit (default) or kubevirt
      --image IMAGE        the launcher's image
  -o, --output FORMAT      yaml (default) or json

Exit codes: 0 done, 1 a Pod could not be rendered (the others are printed), 2 wrong usage.`;

/** Prints the Pods that can be made; for others, stderr names the place and the reason. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      explain: { type: "boolean" },
      config: { type: "string" },
      launcher: { type: "string" },
      image: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const format = outputFormat(values.output, ["yaml", "json"]);
  if (!values.filename) throw new UsageError("pass the files to read with -f FILE");
  const profile = launcherProfile(values.launcher, values.image);
  const config = await readConfig(values.config, io);
  const { documents, problems } = await readManifests(values.filename, io);
  const complaints = problems.map((problem) => `${place(problem)}: ${problem.message}\n`);
  const vmis = documents.filter(describesVmi);
  if (vmis.length === 0 && complaints.length === 0) {
    throw new Error("the manifests contain no VirtualMachineInstance");
  }
  const lookup = lookupIn(clusterObjects(documents));
  const each = <T>(make: (vmi: VirtualMachineInstance) => T): readonly T[] => {
    const made = vmis.map((document) => {
      const applied = applyInstancetypes(document, documents);
      return "complaints" in applied ? applied : madeOf(applied.document, config, make);
    });
    complaints.push(...made.flatMap((one) => ("complaints" in one ? one.complaints : [])));
    return made.flatMap((one) => ("result" in one ? [one.result] : []));
  };
  if (values.explain) {
    const explained = each((vmi) => explainLauncherPod(vmi, config, lookup, { profile }));
    if (values.output !== undefined) await writeObjects(io, explained, format);
    else await writeAll(io.stdout, explained.map(explainText).join("\n"));
  } else {
    const pods = each((vmi) => renderLauncherPod(vmi, config, lookup, { profile }));
    await writeObjects(io, pods, format);
  }
  if (complaints.length > 0) await writeAll(io.stderr, complaints.join(""));
  return complaints.length === 0 ? 0 : 1;
}

type Made<T> = { readonly result: T } | { readonly complaints: readonly string[] };

function madeOf<T>(
  document: ManifestDocument,
  config: ClusterConfig,
  make: (vmi: VirtualMachineInstance) => T,
): Made<T> {
  try {
    const read = readVmi(document, config);
    if ("vmi" in read) return { result: make(read.vmi) };
    return {
      complaints: read.faults.map(({ path, message }) => complaint(document, path, message)),
    };
  } catch (error) {
    if (!isAboutInput(error)) throw error;
    const isMissing = isLauncherPodError(error) && error.code === "LAUNCHER_POD_NOT_FOUND";
    return { complaints: [complaintOf(document, error, isMissing ? ", or pass it with -f" : "")] };
  }
}

function launcherProfile(name: string | undefined, image: string | undefined): LauncherProfile {
  if (name === "kubevirt") {
    return kubevirtLauncherProfile({ image: image ?? "quay.io/kubevirt/virt-launcher:v1.9.0" });
  }
  if (name !== undefined && name !== "virtkit") {
    throw new UsageError(`--launcher ${name}: use virtkit or kubevirt`);
  }
  return virtkitLauncherProfile(image === undefined ? {} : { image });
}
