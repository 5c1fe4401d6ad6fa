import { faultNames, isPossible, moments } from "./fault-moments.ts";

const head = `# Faults during a live migration

This table shows what happens to a guest when one part fails at one moment of its migration, and comes back afterwards.
\`npm run test:faults\` writes it, with real libvirt and QEMU between two sandboxes. Each case also checks that exactly one
copy runs, that it has the run grant, and that no count that the guest wrote and synced is lost, repeated or forked.

The outcomes:

- **stays**: the guest continues at the source.
- **moves**: the guest runs at the target.
- **cold**: the guest's memory was lost with a QEMU that had a part of it that existed nowhere else. No copy runs, and no
  acknowledged write is lost. The rules of the grant let the VM start again only with proof that both copies have ended.

*source* and *target* say whose step it is. *before*: nothing of the step has been done. *after*: all of it has been done, and the
other side has not been told yet. *post-copy target running*: the target runs and still lacks memory.

The faults:

- *launcher*: the process that drives or receives the migration is killed, and restarted to settle it.
- *libvirtd*: the daemon is killed and restarted; QEMU keeps running.
- *QEMU*: the process of that side's copy is killed.
- *proxy*: every connection between the nodes ends, and new ones are refused for a while.
- *link*: everything between the nodes is silently dropped for a while.
- *reply*: exactly one reply is lost: the one to the next step.

Not every part that is killed is the product's own process:

- libvirtd and QEMU are real, and so is the guest.
- A *launcher* is a process of the test. It calls the same functions of the library as the launcher does: \`driveMigration\`
  and \`settleSource\`, or \`MigrationReceiver\` and \`settleTarget\`.
- The *proxy* and the *link* are the test's own joins of sockets. The library's proxies take no part.
- The test plays the node agents, the controller and the people: the run grant is a file, the test proves that a source has
  ended, recovers a broken post-copy, and grants the guest anew.

The product's own processes (launcher Pods, node agents together with their proxies, the controller) are killed in the
[table of faults between nodes](migration-cluster-faults.md).

`;

const foot = `
The source's decision file decides. It says \`released\` once the launcher that drives the migration has the answers to
*perform* and *finish*: from then on the guest moves, whatever fails. A launcher that is killed before that never finishes what
it began, and the guest stays. A release that cannot be delivered waits in the file, and both copies stay paused until either
the link or the grant can be reached again.

In post-copy, \`committed\` decides. Before the switch the guest stays, and a source that cannot see its target's paused copy
does not switch. After the switch there is no way back, and a stream that breaks while the target runs is recovered. If the
stream breaks, or the target's copy is lost, before the target has run, nobody has the whole guest: the VM starts cold. A
libvirtd that restarts ends a copy that it was still receiving, so the same holds for the target's libvirtd until the target
runs. If libvirt gives up a switch before QEMU has made it, the guest stays after all. If the source's QEMU is lost while the
target runs, the target ends its copy as soon as it has the proof. If the target's is lost, the source waits for people to end it.

\`packages/migration/src/copied-disk-faults.host.test.ts\`, which is part of \`npm test\`, also runs each fault while a disk is
copied, at its worst step, with the same outcomes.

A node agent runs its side's proxies and writes the grant; it decides nothing.
\`packages/launcher/src/migration/agent-faults.host.test.ts\`, which is part of \`npm test\`, kills one and restarts it without
any memory of its own. That agent is a process of the test with the library's plans and proxies; the launchers' code runs in the
test itself. The guest stays if either agent is killed before *perform*, or the target's agent after the target's *finish*. The
guest moves if an agent is killed when the decision is on disk and nobody else knows it, before the resume, or before *confirm*.

If a stream breaks before the target has run, the target's QEMU may also hang, for example in *finish before* (seen in 2 of
about 30 runs of that cell). The thread that loads the devices waits for a page of the guest and holds QEMU's lock. The thread
that receives wants to end QEMU, and waits for the thread that fetches pages, which waits for a recovery. libvirt says
\`paused (migration)\` and never answers *finish*. The target has never run, and nothing can be recovered. So the source
makes the target end its copy, once its own QEMU says that the stream is gone (\`postcopy-paused\`) and the target has not
begun to run for a while.

In the cells *link* at *switch after* and *finish before*, the link is repaired before the source has ended. A source that has
switched cannot go back, and while the link is down it cannot know whether the target runs. So it waits, and so does the target:
with a link that stayed down for 8 s, neither ended in any of 3 runs, the grant said \`Committed\`, and nothing was destroyed. The
wait ends when the link returns, or when the proxies of the nodes cut a stream that has not moved for two minutes.

One case is not in the table, because nobody can decide it: a post-copy stream that breaks when the target has begun to run, but
before it has fetched the pages that it touches first. QEMU 7.2 may then wait for a page and hold its lock, in a device or in a
vCPU that takes an interrupt under software emulation. It does not answer its monitor, libvirt refuses the recovery
(\`is being actively monitored by another thread\`), and the target says \`running (postcopy)\`. This happened in 1 of those 3 runs. The guest
may have written to its disk, so nothing is destroyed. The source says that it waits for a recovery, and that a person can end
both launcher Pods instead, after which the VM starts cold.
`;

/** The table of outcomes, as a document. Cells that were not run now stay as in an earlier document. */
export function faultTable(outcomes: ReadonlyMap<string, string>, earlier = ""): string {
  const before = cellsOf(earlier);
  const rows = moments.map((moment) => {
    const name = moment.replace(".", " ");
    const cells = faultNames.map((fault) => {
      if (!isPossible(fault, moment)) return "";
      return outcomes.get(`${moment}|${fault}`) ?? before.get(`${name}|${fault}`) ?? "not run";
    });
    return `| ${[name, ...cells].join(" | ")} |`;
  });
  const lines = [
    `| moment | ${faultNames.join(" | ")} |`,
    `|---|${faultNames.map(() => "---").join("|")}|`,
    ...rows,
  ];
  return `${head}${lines.join("\n")}\n${foot}`;
}

/** By moment and fault, so that a document with other columns is understood, too. */
export function cellsOf(document: string): ReadonlyMap<string, string> {
  const rows = document.split("\n").filter((line) => line.startsWith("| "));
  const [head = [], ...others] = rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(
    others.flatMap(([name, ...cells]) =>
      cells.map((cell, index) => [`${name}|${head[index + 1]}`, cell] as const),
    ),
  );
}
