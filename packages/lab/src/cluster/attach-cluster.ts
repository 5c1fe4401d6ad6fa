import { readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { LabError } from "../lab-error.ts";
import type { Cluster, NodeControl } from "./cluster.ts";
import type { ClusterLayout } from "./cluster-layout.ts";
import { clusterView } from "./cluster-view.ts";

/** What other processes need to know about a cluster. */
interface SharedCluster {
  readonly layout: ClusterLayout;
  readonly programs: string;
}

const verbs = [
  ...["killNode", "startNode", "cutNode", "healNode"],
  ...["stopProgram", "startProgram", "nodePid"],
] as const satisfies readonly (keyof NodeControl)[];

const sharedFile = "shared.json";
const socketFile = "control.sock";

/**
 * Lets other processes of this user use a cluster: they attach to its directory. This process
 * carries out what happens to nodes, because the nodes end with it. Returns what ends it.
 */
export async function shareCluster(
  { layout, programs }: SharedCluster,
  control: NodeControl,
): Promise<() => Promise<void>> {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("end", () => {
      answer(control, Buffer.concat(chunks).toString()).then(
        (value) => outgoing.end(JSON.stringify({ value })),
        (error: unknown) => outgoing.end(JSON.stringify({ error: String(error) })),
      );
    });
  });
  const socket = join(layout.directory, socketFile);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  await chmod(socket, 0o600);
  await writeFile(join(layout.directory, sharedFile), JSON.stringify({ layout, programs }));
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

/**
 * The cluster that another process has started, by its directory; by default the one that all tests of the
 * nodes tier share. It ends with that process.
 *
 * @throws LabError if there is none.
 */
export function attachCluster(directory: string = process.env["VIRTKIT_CLUSTER"] ?? ""): Cluster {
  let text: string;
  try {
    text = readFileSync(join(directory, sharedFile), "utf8");
  } catch (cause) {
    const message = `there is no cluster at "${directory}"; run the tests with "npm run test:nodes"`;
    throw new LabError("LAB_CLUSTER", message, { cause });
  }
  const { layout, programs } = JSON.parse(text) as SharedCluster;
  const socket = join(directory, socketFile);
  const control = Object.fromEntries(
    verbs.map((verb) => [verb, (...args: readonly string[]) => call(socket, verb, args)]),
  ) as unknown as NodeControl;
  return clusterView(layout, programs, control);
}

async function answer(control: NodeControl, text: string): Promise<unknown> {
  const { verb, args } = JSON.parse(text) as { verb: string; args: readonly string[] };
  const known = verbs.find((each) => each === verb);
  if (!known) throw new LabError("LAB_CLUSTER", `"${verb}" is not a verb; use ${verbs.join(", ")}`);
  const act = control[known].bind(control) as (...given: readonly string[]) => Promise<unknown>;
  return await act(...args);
}

async function call(socketPath: string, verb: string, args: readonly string[]): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method: "POST", agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const { value, error } = JSON.parse(Buffer.concat(chunks).toString()) as Answer;
        if (error === undefined) resolve(value);
        else reject(new LabError("LAB_CLUSTER", `${verb} ${args.join(" ")}: ${error}`));
      });
    });
    outgoing.once("error", reject);
    outgoing.end(JSON.stringify({ verb, args }));
  });
}

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}
