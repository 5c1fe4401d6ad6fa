import { HostError } from "../host-error.ts";

/**
 * Capacity of a resource, such as `sev` or `tdx`, from the content of `misc.capacity`. Lines that
 * are not a name and a value are skipped. Throws `HOST_FORMAT_INVALID` if the resource is not
 * listed, or its value (`max`, say) is not an integer.
 */
export function miscCapacity(content: string, resource: string): number {
  for (const line of content.split("\n")) {
    const fields = line.split(/\s+/).filter((field) => field !== "");
    if (fields.length !== 2 || fields[0] !== resource) continue;
    const value = fields[1] ?? "";
    if (/^[+-]?\d{1,19}$/.test(value) && Math.abs(Number(value)) < 2 ** 63) return Number(value);
    const message = `${resource} has the capacity ${JSON.stringify(value)}, which is not a 64-bit integer`;
    throw new HostError("HOST_FORMAT_INVALID", message, { path: resource });
  }
  const message = `misc.capacity does not list ${resource}; this host does not support it`;
  throw new HostError("HOST_FORMAT_INVALID", message, { path: resource });
}
