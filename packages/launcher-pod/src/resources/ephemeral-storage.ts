import { parseQuantity } from "@virtkit/api/quantity";
import { part } from "../explain.ts";
import type { ResourceRule } from "./resource-rule.ts";
import { increase } from "./resource-sheet.ts";

const name = "ephemeral-storage";

/** Logs and sockets of the launcher. */
const overhead = parseQuantity("50M");

/** Room for the launcher's own files, in addition to what the VMI requests. */
export const ephemeralStorage: ResourceRule = ({ explain }, { requests, limits }) => {
  increase(requests, name, overhead);
  explain?.(part.request(name), "rule", "50M for the launcher's own files are added");
  if (!limits.has(name)) return;
  increase(limits, name, overhead);
  explain?.(part.limit(name), "vmi.spec.domain.resources.limits", "50M for the launcher are added");
};
