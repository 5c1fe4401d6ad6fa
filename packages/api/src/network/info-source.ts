/** Who reported an interface; a status lists the sources, joined by a comma and a space. */
export type InfoSource = "domain" | "guest-agent" | "multus-status";

const separator = ", ";

/** Whether a status names this source. */
export function hasInfoSource(sources: string, source: InfoSource): boolean {
  return sources.split(separator).includes(source);
}

/** The sources with one more at the end; unchanged if it is there. */
export function addInfoSource(sources: string, source: InfoSource): string {
  if (sources === "") return source;
  return hasInfoSource(sources, source) ? sources : `${sources}${separator}${source}`;
}

/** The sources without one of them. */
export function removeInfoSource(sources: string, source: InfoSource): string {
  return sources
    .split(separator)
    .filter((name) => name !== source)
    .join(separator);
}
