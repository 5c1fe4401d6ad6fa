/** One value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric whose values are computed when it is scraped. */
export interface CollectedMetric<View> {
  readonly name: string;
  readonly help: string;
  /** A gauge by default. Some of KubeVirt's counters can go down. */
  readonly type?: "gauge" | "counter";
  readonly labels: readonly string[];
  samples(view: View): readonly Sample[];
}
