import { faultNames, isPossible, moments } from "./fault-case.ts";

const head = `# Faults during a live migration

What became of a guest when one part failed at one moment of its move, and came back afterwards. Made by
\`npm run test:faults\`, with real libvirt and QEMU between two sandboxes; each case also checks that exactly one
copy runs, that it has the run grant, and that no count that the guest wrote and synced is lost, repeated or
forked. **stays**: the source goes on. **moves**: the target has it. *source* and *target* say whose step it is;
*before* a step nothing of it was done, *after* it all was, and the other side was not told yet.

- *launcher*: the process that drives or receives is killed, and started again to settle.
- *libvirtd*: the daemon is killed and started again; QEMU lives on.
- *proxy*: every connection between the nodes ends, and new ones are refused for a while.
- *link*: everything between the nodes vanishes without a word for a while.
- *reply*: exactly one answer is lost, that of the step which comes next.

`;

const foot = `
What decides is the file of the source. It says \`released\` once the launcher that drives has the answers to *perform*
and *finish*: from then on the guest moves, whoever fails. A launcher that is killed before that never finishes what it
began, and the guest stays. A release that cannot be told waits in the file, and both copies stand still until one way,
the link or the grant, is open again.

Not in the table, because nobody can decide it: a post-copy stream that is cut before the target has fetched what its
devices touch first. QEMU 7.2 then waits for a page with its lock held and answers no monitor, so the recovery
cannot begin. Nothing is destroyed; the source says that it waits for a recovery.
`;

/** The table of outcomes, as a document. What was not run now stays as an earlier document has it. */
export function faultTable(outcomes: ReadonlyMap<string, string>, earlier = ""): string {
  const before = cellsOf(earlier);
  const rows = moments.map((moment) => {
    const name = moment.replace(".", " ");
    const cells = faultNames.map((fault, index) => {
      if (!isPossible(fault, moment)) return "";
      return outcomes.get(`${moment}|${fault}`) ?? before.get(name)?.[index] ?? "not run";
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

function cellsOf(document: string): ReadonlyMap<string, readonly string[]> {
  const rows = document.split("\n").filter((line) => line.startsWith("| "));
  return new Map(
    rows.map((row) => {
      const [name = "", ...cells] = row.split("|").slice(1, -1);
      return [name.trim(), cells.map((cell) => cell.trim())];
    }),
  );
}
