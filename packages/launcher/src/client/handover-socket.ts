import { type Names, names } from "@virtkit/api/names";

/** Where a launcher receives sockets from its node agent, beside its command socket. */
export function handoverSocket({ directories }: Pick<Names, "directories"> = names()): string {
  return `${directories.sockets}/launcher-handover-sock`;
}
