import type { Io } from "../io.ts";
import { parseOptions } from "../parse-options.ts";
import { stateDirectory } from "./state-directory.ts";

/** What commands about VMIs that exist have in common. */
export interface LocalOptions {
  readonly names: readonly string[];
  readonly stateDirectory: string;
  readonly now: boolean;
}

/** Help for {@link localOptions}. */
export const stateDirHelp =
  "      --state-dir DIR  where VMIs are kept; default $VIRTKIT_STATE_DIR or /var/lib/virtkit";

/** Reads `NAME`, `--state-dir` and `--now`, for which `--force` is an alias. */
export function localOptions(args: readonly string[], io: Io): LocalOptions {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: {
      "state-dir": { type: "string" },
      now: { type: "boolean" },
      force: { type: "boolean" },
    },
  });
  return {
    names: positionals,
    stateDirectory: stateDirectory(values["state-dir"], io),
    now: values.now ?? values.force ?? false,
  };
}
