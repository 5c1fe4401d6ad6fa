import type { Refusal } from "@virtkit/node-agent/errors";

/** A refusal as one line. */
export function refusalText({ field, found, instead }: Refusal): string {
  return `${field}: ${found}; ${instead}`;
}
