/** What a difference between two domain documents means for an existing guest. */
const meanings: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  [
    /\/os\/type\/@machine/,
    "the chipset changes: devices move, and the guest may not resume or migrate",
  ],
  [/\/mac\//, "the card gets another address: leases and rules bound to it are lost"],
  [/\/address(\/|:|$)/, "a device moves: names and drivers bound to its place are lost"],
  [/\/mac\//, "the card gets another address: leases and rules bound to it are lost"],
  [
    /\/serial|entry|\/uuid/,
    "an identity changes: links by id break, licences ask to be activated again",
  ],
  [/\/target\/@dev/, "a disk gets another name"],
  [/\/model\/@|\/@model|\/@bus/, "a device becomes another one: the guest needs another driver"],
  [/: (too many|missing)$/, "a device or setting appears or disappears"],
  [/\/cpu/, "the CPU changes: the guest may not resume or migrate"],
];

/** A difference with what it breaks for a running guest. */
export function abiBreak(difference: string): string {
  const meaning = meanings.find(([pattern]) => pattern.test(difference))?.[1];
  return `${difference} -> ${meaning ?? "the guest sees different hardware than before"}`;
}
