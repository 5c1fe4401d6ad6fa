import { isPossible, migrationFaults } from "./migration-fault.ts";
import { faultPhases } from "./migration-hold.ts";

const head = `# Faults during a live migration between nodes

This table shows what happens to a guest when one part fails in one phase of its migration between two real nodes, and comes
back afterwards. \`npm run test:faults\` writes it, with two kubelets, the whole platform and a real guest. Each case also
checks the following:

- At most one copy runs in every sample (by the run time of its vCPUs, several times a second), and exactly one in the end.
- The launcher of that copy has the run grant.
- The migration ends as its guest does, with a reason if it failed.
- No count that the guest wrote to its shared disk and synced is lost, repeated or forked.

The outcomes:

- **stays**: the guest continues at the source, and the migration has failed.
- **moves**: the guest runs at the target, and the migration has succeeded.
- **cold**: the guest's memory was lost with its node or its launcher. The VM was restarted once the end of the old guest was proven.

The faults:

- *virt-controller*: the active replica is killed; the other one takes over once the lease expires.
- *virt-handler*: the node agent is killed together with its proxies, and the kubelet restarts it.
- *launcher*: the first process of the Pod is killed, and with it everything in the Pod, including QEMU. Before \`Scheduled\`,
  no launcher waits at the target. In \`Succeeded\`, the source's launcher may already have ended by itself.
- *cut from API*: the node and the API server cannot reach each other until Kubernetes notices that the node is gone.
- *source cut from target*: the nodes and their Pods cannot reach each other for five seconds.
- *source node lost*: a power cut. The node starts again once Kubernetes notices that it is gone.

A phase that is over in a moment is held. The write that would leave it is refused (\`Pending\`: the target's Pod;
\`Scheduled\`: the migration's state on the VMI; \`PreparingTarget\`: the target's address), the target node is cordoned
(\`Scheduling\`), the source's node agent is stopped (\`TargetReady\`), or memory is copied slowly (\`Running\`). The phase is
released right after the fault, before the part comes back. A fault in \`Succeeded\` happens as soon as the migration reports
that phase.

`;

const foot = `
*not run*: the case has not been run yet. **failed**: it was run, and did not end as it must.

Until memory is copied, only the source has any part of the guest, so the guest is lost only with its own launcher or node. A
node agent runs the proxies of its side. If it is killed while memory is copied, the streams end, and the guest stays. A node
that cannot reach the API server completes the handover all the same: the release goes from launcher to launcher, and the API
server learns of it later. Two nodes that cannot reach each other for five seconds continue where they were. No launcher waits
for a decision of a controller.

How long two nodes may be silent depends on the moment. While memory is copied nothing is asked, and the copy continues unless the
silence lasts two minutes. A stream that is being opened has ten seconds, and TCP tries ever more rarely: the last time after 7, and
then after 11 (before Linux 6.5, after 15). So silence of more than seven seconds at that moment ends the migration, and the guest
stays. So does silence while the guest stands still, if the target's answer to *finish* takes longer than ten seconds: TCP doubles
its pauses, so that five seconds can become ten.

QEMU before 9.0 can lose writes of an emulated guest while it copies its memory (QEMU's commit 03bfc2188f06 fixes it; guests
on KVM are not affected). The kernel of such a guest hangs or panics after it has moved, more often on a busy host. A case in which
that happens says nothing about its fault: it is run once more with another guest, and fails if that one is damaged, too.

\`examples/operator/migration.nodes.test.ts\`, which is part of \`npm test\`, also runs each fault once, in its worst phase. For
what happens at each step within \`Running\`, up to the handover, see [migration-faults.md](migration-faults.md).
`;

/** The table of outcomes, as a document. Cells that were not run now stay as in an earlier document. */
export function migrationFaultTable(outcomes: ReadonlyMap<string, string>, earlier = ""): string {
  const before = cellsOf(earlier);
  const rows = faultPhases.map((phase) => {
    const cells = migrationFaults.map((fault) => {
      if (!isPossible(fault, phase)) return "";
      const key = `${phase}|${fault}`;
      return outcomes.get(key) ?? before.get(key) ?? "not run";
    });
    return `| ${[phase, ...cells].join(" | ")} |`;
  });
  const lines = [
    `| phase | ${migrationFaults.join(" | ")} |`,
    `|---|${migrationFaults.map(() => "---").join("|")}|`,
    ...rows,
  ];
  return `${head}${lines.join("\n")}\n${foot}`;
}

/** By phase and fault, so that a document with other columns is understood, too. */
export function cellsOf(document: string): ReadonlyMap<string, string> {
  const rows = document.split("\n").filter((line) => line.startsWith("| "));
  const [names = [], ...others] = rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(
    others.flatMap(([name, ...cells]) =>
      cells.map((cell, index) => [`${name}|${names[index + 1]}`, cell] as const),
    ),
  );
}
