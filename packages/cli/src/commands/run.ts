import { join, resolve } from "node:path";
import type { Stage } from "@virtkit/api/timeline";
import type { Io } from "../io.ts";
import { parseImages } from "../machines/parse-images.ts";
import { parsePublish } from "../machines/parse-publish.ts";
import { readMachine } from "../machines/read-machine.ts";
import { accelOf, runSession } from "../machines/run-session.ts";
import { stateDirectory } from "../machines/state-directory.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit run --help`. */
export const help = `Usage: virtkit run -f VMI.yaml [OPTION]...

Runs a VirtualMachineInstance (or the one of a VirtualMachine) on this host, with no Kubernetes. Tells of
each handoff as it happens, then joins the terminal to the guest's console; Ctrl-] leaves it and the
machine runs on. Without a terminal it waits until the guest ends; Ctrl-C stops and removes it. Needs
root: virtkit doctor tells what else.

  -f, --filename FILE    YAML or JSON; Secrets and ConfigMaps in it are the machine's; - is stdin
  -p, --publish H:G      port H of this host leads to port G of the guest; may be repeated
  -d, --detach           leave the machine running in the background
      --wait STAGE       with --detach: until agent-connected, say; guest-running unless told
      --accel ACCEL      auto (default: kvm where a short boot proves it), kvm or tcg
      --image NAME=PATH  the disk image behind a containerDisk's image; may be repeated
      --image-dir DIR    where images are looked for by name; STATE-DIR/images unless told
      --allow-host-disk DIR
                         a hostDisk may be a file below DIR that uid 107 can use, and no other; may be
                         repeated; without it a manifest with a hostDisk is refused
      --rm-on-interrupt  Ctrl-C on the console stops and removes the machine instead of reaching the guest
      --state-dir DIR    where machines are kept; /var/lib/virtkit unless VIRTKIT_STATE_DIR tells

Exit codes: 0 done, 1 the machine could not be started or has failed, 2 wrong usage.`;

const waitable: readonly Stage[] = ["guest-running", "agent-connected", "ready"];

/** Starts the machine and stays with it, unless told to detach. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseOptions(args, {
    options: {
      filename: { type: "string", short: "f", multiple: true },
      publish: { type: "string", short: "p", multiple: true },
      detach: { type: "boolean", short: "d" },
      wait: { type: "string" },
      accel: { type: "string" },
      image: { type: "string", multiple: true },
      "image-dir": { type: "string" },
      "allow-host-disk": { type: "string", multiple: true },
      "rm-on-interrupt": { type: "boolean" },
      "state-dir": { type: "string" },
    },
  });
  if (!values.filename) throw new UsageError("name the file to run with -f FILE");
  const directory = stateDirectory(values["state-dir"], io);
  const read = await readMachine(values.filename, io);
  return await runSession(
    {
      stateDirectory: directory,
      vmi: read.vmi,
      objects: read.objects,
      accel: accelOf(values.accel),
      published: (values.publish ?? []).map(parsePublish),
      sources: {
        images: parseImages(values.image ?? []),
        folder: values["image-dir"] ?? join(directory, "images"),
        objects: read.data,
      },
      allowedHostDiskDirectories: (values["allow-host-disk"] ?? []).map((path) => resolve(path)),
      detach: values.detach ?? false,
      until: stageOf(values.wait),
      removeOnInterrupt: values["rm-on-interrupt"] ?? false,
    },
    io,
  );
}

function stageOf(text: string | undefined): Stage {
  const stage = text === undefined ? "guest-running" : waitable.find((each) => each === text);
  if (stage) return stage;
  throw new UsageError(`--wait ${text}: use ${waitable.join(", ")}`);
}
