// An agent that kills itself. Arguments: what to do, the Pod as JSON, and the mark at which it dies. The
// marks are numbered, including those of the network steps. Without one, it runs to its end.
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { openSandbox, prepare, teardown } from "@virtkit/node-agent";

const [verb, json = "", dieAt = "Infinity"] = process.argv.slice(2);
const { podUid, pid, directory, stateDirectory, vmi } = JSON.parse(json);
let seen = 0;

function mark() {
  if (++seen >= Number(dieAt)) process.kill(process.pid, "SIGKILL");
}

const sandbox = openSandbox({
  podUid,
  pid,
  containers: { root: { root: openRoot(join(directory, "root")) } },
  kernelBoot: { root: openRoot(join(directory, "boot")) },
});
const options = {
  stateDirectory,
  config: clusterConfig({
    spec: { configuration: { developerConfiguration: { useEmulation: true } } },
  }),
  wiring: { onOperation: mark },
  onProgress: mark,
};
if (verb === "prepare") await prepare(vmi, sandbox, options);
else await teardown(podUid, { ...options, sandbox });
process.exit(0);
