/** One value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric whose values are computed when it is scraped. */
export interface CollectedMetric<View> {
  readonly name: string;
  readonly help: string;
  /** By default a gauge. KubeVirt has counters whose values go down. */
  readonly type?: "gauge" | "counter";
  readonly labels: readonly string[];
  samples(view: View): readonly Sample[];
}
