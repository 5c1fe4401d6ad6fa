/**
 * PID 1 of a control plane or a node: starts the programs that are named on its stdin, a line each, from
 * scripts of those names in a directory, and starts again what ends. When its stdin closes, it ends, and
 * the kernel ends everything in its namespaces: whoever holds the other end of the pipe may die in any way.
 *
 * A file NAME.off beside the script keeps a program that has ended from being started again; a file NAME.pid
 * says which process it is.
 */
export function supervisorScript(directory: string, logs: string): string {
  return `exec 3<&0 0</dev/null
keep() {
  while :; do
    if [ ! -e '${directory}/'"$1".off ]; then bash '${directory}/'"$1" >> '${logs}/'"$1".log 2>&1 3<&-; fi
    sleep 0.1
  done
}
echo ready
while read -r name; do keep "$name" 3<&- & done <&3
`;
}

/** The script that runs one program, and records its pid in a file. */
export function programScript(
  program: string,
  args: readonly string[],
  place: ProgramPlace,
): string {
  const line = [program, ...args].map((word) => `'${word}'`).join(" ");
  // Two threads each: programs that assume the whole host is theirs would only wait for each other.
  return `echo $$ > '${place.directory}/${program}.pid'
export PATH=${place.programs}:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root GOMAXPROCS=2
exec ${line}
`;
}

/** Where a program runs. */
export interface ProgramPlace {
  /** The directory of the scripts, as the program sees it. */
  readonly directory: string;
  /** The directory of the programs, as the program sees it. */
  readonly programs: string;
}
