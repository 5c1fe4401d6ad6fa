import type { Sample } from "./guest-samples.ts";
import { metricKinds } from "./metric-kinds.ts";

/** Samples in Prometheus text format, grouped by metric, with its type. */
export function prometheusText(samples: readonly Sample[]): string {
  const byMetric = groupByMetric(samples);
  const lines: string[] = [];
  for (const [metric, values] of byMetric) {
    const kind = metricKinds[metric];
    if (kind) lines.push(`# HELP ${metric} ${kind.help}`, `# TYPE ${metric} ${kind.type}`);
    for (const { labels, value } of values) lines.push(`${metric}{${labelText(labels)}} ${value}`);
  }
  return lines.length > 0 ? `${lines.join("\n")}\n` : "";
}

function groupByMetric(samples: readonly Sample[]): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const group = groups.get(sample.metric) ?? [];
    groups.set(sample.metric, group);
    group.push(sample);
  }
  return groups;
}

/** Guests name their file systems: a quote or a line break must not end a label. */
function labelText(labels: Sample["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name.replaceAll(/[^A-Za-z0-9_]/g, "_")}="${escaped(value)}"`)
    .join(",");
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
