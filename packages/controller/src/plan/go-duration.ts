const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds of a duration as Kubernetes writes it, `5m0s`; `undefined` for anything else. */
export function goDurationMilliseconds(duration: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,9})?(h|ms|m|s))+$/.test(duration)) return undefined;
  const parts = duration.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g);
  return [...parts].reduce(
    (sum, [, value, unit]) => sum + Number(value) * (units[unit ?? ""] ?? 0),
    0,
  );
}
