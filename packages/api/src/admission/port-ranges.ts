import type { ClusterConfig } from "../config/index.ts";
import type { Interface, PortRange } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";

const mostRanges = 10;

/** Port ranges that are forwarded to the guest: experimental, and for masquerade. */
export function portRanges(
  iface: Interface,
  where: { field: string; onPodNetwork: boolean; config: ClusterConfig },
): readonly Cause[] {
  const { field, onPodNetwork, config } = where;
  if (!isSet(iface.portRanges)) return fine;
  if (!config.gate("PortRangesSpec")) {
    return invalid(
      `${field}.name`,
      "has portRanges, but the feature gate PortRangesSpec is off; use ports, or turn it on",
      field,
    );
  }
  if (!onPodNetwork) return fine;
  return join(
    isSet(iface.ports)
      ? invalid(`${field}.name`, "has both ports and portRanges; keep one", field)
      : fine,
    iface.masquerade
      ? fine
      : invalid(
          `${field}.name`,
          "has portRanges, which need masquerade; change the binding",
          field,
        ),
    ranges(iface.portRanges, `${field}.portRanges`),
  );
}

function ranges(all: readonly PortRange[], field: string): readonly Cause[] {
  if (all.length > mostRanges) {
    return invalid(field, `has ${all.length} entries; at most ${mostRanges} are allowed`);
  }
  const faults = all.map((range, i) => wellFormed(range, `${field}[${i}]`));
  const good = all.filter((_, i) => faults[i]?.length === 0);
  return join(
    faults.flat(),
    ["TCP", "UDP"].flatMap((protocol) =>
      overlaps(
        good.filter((range) => range.protocol === protocol),
        field,
      ),
    ),
  );
}

/** The first fault of a range. */
function wellFormed({ protocol, start, end }: PortRange, field: string): readonly Cause[] {
  if (protocol !== "TCP" && protocol !== "UDP") {
    return invalid(`${field}.protocol`, `is ${quote(protocol)}; use TCP or UDP`);
  }
  if (!isPort(start)) return invalid(`${field}.start`, `is ${quote(start)}; use 1 to 65535`);
  if (!isPort(end)) return invalid(`${field}.end`, `is ${quote(end)}; use 1 to 65535`);
  if (start <= end) return fine;
  return invalid(`${field}.start`, `is ${start}, after the end ${end}; swap them`);
}

function overlaps(sameProtocol: readonly PortRange[], field: string): readonly Cause[] {
  const sorted = [...sameProtocol].sort((a, b) => a.start - b.start || a.end - b.end);
  return each(sorted, (range, i) => {
    const before = sorted[i - 1];
    if (!before || range.start > before.end) return fine;
    const pair = `${before.start}-${before.end} and ${range.start}-${range.end}`;
    return invalid(field, `has the ${range.protocol} ranges ${pair}, which overlap; merge them`);
  });
}

function isPort(number: number): boolean {
  return number > 0 && number < 65536;
}
