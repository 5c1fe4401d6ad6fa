import { join, resolve } from "node:path";
import type { Stage } from "@virtkit/api/timeline";
import type { Io } from "../io.ts";
import { parseImages } from "../local/parse-images.ts";
import { parseNetwork } from "../local/parse-network.ts";
import { parsePublish } from "../local/parse-publish.ts";
import { readLocalVmi } from "../local/read-local-vmi.ts";
import { accelOf, runSession } from "../local/run-session.ts";
import { stateDirectory } from "../local/state-directory.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit run --help`. */
export const help = `Usage: virtkit run -f VMI.yaml [OPTION]...

Runs a VirtualMachineInstance (or the template of a VirtualMachine) on this host, without Kubernetes. Prints
each handoff as it happens, then connects the terminal to the guest's console. Ctrl-] disconnects, and the VMI
keeps running. Without a terminal it waits until the guest ends; Ctrl-C then stops and removes it. Needs
root; run "virtkit doctor" to see what else is needed. If the VMI cannot run on this host, every reason is
printed before anything is created.

  -f, --filename FILE    YAML or JSON with the VMI, and the Secrets, ConfigMaps, instance type and
                         preference that it uses; - is stdin
  -p, --publish H:G      forward localhost:H, on IPv4 and IPv6, to port G of the guest; G/udp for
                         UDP; may be repeated
  -p, --publish ADDRESS:H:G
                         the same on another address of this host: 192.0.2.7:H:G, [2001:db8::7]:H:G;
                         0.0.0.0 and [::] mean all addresses
      --network MODE     isolated (default): the guest reaches the outside world, but neither this
                         host nor other guests; open: also this host and other open guests
  -d, --detach           run the VMI in the background
      --wait STAGE       with --detach: guest-running (default), ready (by the readiness probe, if there is
                         one) or agent-connected
      --accel ACCEL      auto (default: kvm if a short test boot succeeds), kvm or tcg
      --image NAME=PATH  the disk image behind a containerDisk's image; may be repeated
      --pvc NAME=PATH    the raw disk image behind a claim or DataVolume, to which the guest writes; a
                         regular file that uid 107 can use; may be repeated
      --image-dir DIR    where to look for images by name; default STATE-DIR/images
      --pids-limit N     maximum number of processes and threads in the sandbox; default 4096
      --allow-host-disk DIR
                         allow hostDisks that are files below DIR and that uid 107 can use; may be
                         repeated; without it a manifest with a hostDisk is refused
      --rm-on-interrupt  Ctrl-C on the console stops and removes the VMI instead of reaching the guest
      --state-dir DIR    where VMIs are kept; default $VIRTKIT_STATE_DIR or /var/lib/virtkit

Ctrl-C or SIGTERM before the guest runs removes everything at once. A VMI whose start failed is kept as
Failed: "virtkit why NAME" says why, and "virtkit run" can be repeated at once.

Exit codes: 0 the guest powered off or was stopped, or runs (with --detach); 1 it could not be started, was
killed or crashed; 2 wrong usage; 130 after Ctrl-C (SIGINT), 143 after SIGTERM.`;

const waitable: readonly Stage[] = ["guest-running", "ready", "agent-connected"];

/** Starts the VMI and stays with it, unless it runs in the background. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      publish: { type: "string", short: "p", multiple: true },
      network: { type: "string" },
      detach: { type: "boolean", short: "d" },
      wait: { type: "string" },
      accel: { type: "string" },
      image: { type: "string", multiple: true },
      "image-dir": { type: "string" },
      "pids-limit": { type: "string" },
      pvc: { type: "string", multiple: true },
      "allow-host-disk": { type: "string", multiple: true },
      "rm-on-interrupt": { type: "boolean" },
      "state-dir": { type: "string" },
    },
  });
  if (!values.filename) throw new UsageError("pass the file to run with -f FILE");
  const directory = stateDirectory(values["state-dir"], io);
  if (values.wait !== undefined && !values.detach) {
    throw new UsageError("--wait needs --detach");
  }
  const until = stageOf(values.wait);
  const read = await readLocalVmi(values.filename, io);
  return await runSession(
    {
      stateDirectory: directory,
      vmi: read.vmi,
      objects: read.objects,
      accel: accelOf(values.accel),
      published: (values.publish ?? []).map(parsePublish),
      network: parseNetwork(values.network),
      sources: {
        images: parseImages(values.image ?? []),
        claims: parseImages(values.pvc ?? [], "--pvc"),
        folder: values["image-dir"] ?? join(directory, "images"),
        objects: read.data,
      },
      ...pidsLimitOf(values["pids-limit"]),
      allowedHostDiskDirectories: (values["allow-host-disk"] ?? []).map((path) => resolve(path)),
      detach: values.detach ?? false,
      until,
      removeOnInterrupt: values["rm-on-interrupt"] ?? false,
    },
    io,
  );
}

/** With fewer not even the launcher of a small guest starts; no kernel supports more. */
const pidsBounds = { least: 128, most: 4_194_304 };

function pidsLimitOf(text: string | undefined): { readonly pidsLimit?: number } {
  if (text === undefined) return {};
  const { least, most } = pidsBounds;
  const pidsLimit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (pidsLimit >= least && pidsLimit <= most) return { pidsLimit };
  throw new UsageError(`--pids-limit ${text}: use a number from ${least} to ${most}`);
}

function stageOf(text: string | undefined): Stage {
  const stage = text === undefined ? "guest-running" : waitable.find((each) => each === text);
  if (stage) return stage;
  throw new UsageError(`--wait ${text}: use ${waitable.join(", ")}`);
}
