import { resolve } from "node:path";
import type { Io } from "../io.ts";

/** Where VMIs of this host are kept: the option, `VIRTKIT_STATE_DIR`, or `/var/lib/virtkit`. */
export function stateDirectory(option: string | undefined, io: Io): string {
  return resolve(option ?? (io.env["VIRTKIT_STATE_DIR"] || "/var/lib/virtkit"));
}
