import type { Labels, Metrics } from "@virtkit/api/observe";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Controller } from "../controller/controller-options.ts";
import { type MetricDefinition, metricDefinitions } from "./metric-definitions.ts";

export { type MetricDefinition, metricDefinitions } from "./metric-definitions.ts";

/**
 * Reports counts and measurements to a registry of `prom-client`. Names that this package does not know work as well:
 * they get the labels of their first value. The names of counters end in `_total`, as is conventional.
 *
 * @example
 * import { Registry } from "prom-client";
 *
 * const registry = new Registry();
 * const metrics = prometheusMetrics(registry);
 * const controller = createController({
 *   name: "demo",
 *   client,
 *   metrics,
 *   watches: [],
 *   reconcile: async () => {},
 * });
 */
export function prometheusMetrics(registry: Registry): Metrics {
  const known = new Map<string, Instrument>();
  const instrument = (name: string, type: "counter" | "histogram", labels: Labels): Instrument => {
    const made =
      known.get(name) ?? makeInstrument(registry, name, definitionOf(name, type, labels));
    known.set(name, made);
    return made;
  };
  return {
    count: (name, labels = {}) => instrument(name, "counter", labels)(1, labels),
    observe: (name, value, labels = {}) => instrument(name, "histogram", labels)(value, labels),
  };
}

/** Reports at each scrape how long ago the watches of controllers last heard from their servers. */
export function watchAges(registry: Registry, controllers: readonly Controller[]): void {
  new Gauge({
    name: "kube_watch_blind_seconds",
    help: "Seconds since a watch last heard from its server",
    labelNames: ["controller", "watch"],
    registers: [registry],
    collect() {
      this.reset();
      for (const controller of controllers) {
        for (const { name, blindFor } of controller.watches()) {
          this.set({ controller: controller.name, watch: name }, blindFor / 1_000);
        }
      }
    },
  });
}

/** A metric whose values are determined when it is scraped. */
export interface CollectedGauge {
  readonly name: string;
  readonly help: string;
  /** What it is shown as. By default a gauge; the name of a counter is taken as it is. */
  readonly type?: "gauge" | "counter";
  readonly labels: readonly string[];
  samples(): readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** Asks for the values of gauges at each scrape. */
export function collectMetrics(registry: Registry, gauges: readonly CollectedGauge[]): void {
  for (const { name, help, labels, samples, type = "gauge" } of gauges) {
    const base = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === "counter") {
      new Counter({
        ...base,
        collect() {
          this.reset();
          for (const { labels: given, value } of samples()) this.inc({ ...given }, value);
        },
      });
    } else {
      new Gauge({
        ...base,
        collect() {
          this.reset();
          for (const { labels: given, value } of samples()) this.set({ ...given }, value);
        },
      });
    }
  }
}

type Instrument = (value: number, labels: Labels) => void;

function definitionOf(
  name: string,
  type: "counter" | "histogram",
  labels: Labels,
): MetricDefinition {
  // What is called a depth goes up and down.
  const guessed = name.endsWith("_depth") ? "gauge" : type;
  return metricDefinitions[name] ?? { type: guessed, help: name, labels: Object.keys(labels) };
}

function makeInstrument(
  registry: Registry,
  name: string,
  { type, help, labels, buckets }: MetricDefinition,
): Instrument {
  const base = { help, labelNames: [...labels], registers: [registry] };
  // prom-client throws at an unknown label; counting must not fail.
  const only = (given: Labels): Record<string, string> =>
    Object.fromEntries(labels.map((label) => [label, given[label] ?? ""]));
  switch (type) {
    case "counter": {
      const counter = new Counter({ ...base, name: `${name}_total` });
      return (value, given) => counter.inc(only(given), value);
    }
    case "gauge": {
      const gauge = new Gauge({ ...base, name });
      return (value, given) => gauge.set(only(given), value);
    }
    case "histogram": {
      const histogram = new Histogram({ ...base, name, ...(buckets && { buckets: [...buckets] }) });
      return (value, given) => histogram.observe(only(given), value);
    }
  }
}
