import { faultNames, isPossible, moments } from "./fault-moments.ts";

const head = `# Faults during a live migration

What became of a guest when one part failed at one moment of its move, and came back afterwards. Made by
\`npm run test:faults\`, with real libvirt and QEMU between two sandboxes; each case also checks that exactly one
copy runs, that it has the run grant, and that no count that the guest wrote and synced is lost, repeated or
forked. **stays**: the source goes on. **moves**: the target has it. **cold**: the guest's memory is lost with a QEMU
that had a part of it that nobody else has; no copy runs, no acknowledged write is lost, and the rules of the grant let
the VM start anew only with proof that both copies have ended. *source* and *target* say whose step it is; *before* a
step nothing of it was done, *after* it all was, and the other side was not told yet. *post-copy target running*: the
target runs and still misses memory.

- *launcher*: the process that drives or receives is killed, and started again to settle.
- *libvirtd*: the daemon is killed and started again; QEMU lives on.
- *QEMU*: the process of that side's copy is killed.
- *proxy*: every connection between the nodes ends, and new ones are refused for a while.
- *link*: everything between the nodes vanishes without a word for a while.
- *reply*: exactly one answer is lost, that of the step which comes next.

`;

const foot = `
What decides is the file of the source. It says \`released\` once the launcher that drives has the answers to *perform*
and *finish*: from then on the guest moves, whoever fails. A launcher that is killed before that never finishes what it
began, and the guest stays. A release that cannot be told waits in the file, and both copies stand still until one way,
the link or the grant, is open again.

In post-copy \`committed\` decides. Before the switch the guest stays, and a source that cannot see its target's paused
copy does not switch; from the switch on there is no way back, and a stream that breaks while the target runs is recovered. If
it breaks, or the target's copy goes, before the target has run, nobody has the whole guest: the VM starts cold. A libvirtd
that starts again ends a copy which it was still receiving; so the target's libvirtd is one of those parts until the target
runs. Where libvirt gives a switch up before QEMU has made it, the guest stays after all.

Each fault is also played while a disk is copied, at its worst seam, in
\`packages/migration/src/copied-disk-faults.host.test.ts\`, which is part of \`npm test\`, with the same outcomes.

A node agent holds its side's proxies and writes the grant; it decides nothing. It is killed and started again, without a
memory of its own, in \`packages/launcher/src/migration/agent-faults.host.test.ts\`, which is part of \`npm test\`: before
*perform* either one, and after the target's *finish* the target's, and the guest stays; once the decision is on disk, although
nobody else knows it, before the resume, and before *confirm*, and the guest moves.

Not in the table, because nobody can decide it: a post-copy stream that is cut before the target has fetched what its
devices touch first. QEMU 7.2 then waits for a page with its lock held and answers no monitor, so the recovery
cannot begin. Nothing is destroyed; the source says that it waits for a recovery.

One cell is not steady: *link* at *post-copy target finish before* ends cold, but in one of six runs it had not settled
after a minute. The source's post-copy had failed, the target's copy was paused, and the grant said \`Committed\`: nothing ran and
nothing was destroyed. Why it did not get on is not known yet.
`;

/** The table of outcomes, as a document. What was not run now stays as an earlier document has it. */
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

/** By moment and fault: a document that had other columns is understood, too. */
function cellsOf(document: string): ReadonlyMap<string, string> {
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
