import type { MoveForecast } from "@virtkit/local";
import { plain } from "./plain.ts";

/** Whether a guest can move and how that would go, for a person. */
export function forecastText(name: string, found: MoveForecast): string {
  if (found.obstacle) {
    const { reason, message } = found.obstacle;
    return `${name} cannot move: ${plain(reason)}: ${plain(message)}`;
  }
  const { forecast, usedBytes, memoryBytes, diskBytes, dirtyBytesPerSecond, figures } = found;
  const { rounds } = forecast;
  const disks = diskBytes > 0 ? `, ${megabytes(diskBytes)} of disks` : "";
  const writes =
    dirtyBytesPerSecond === undefined
      ? "how fast it writes has not been measured"
      : `it writes ${megabytes(dirtyBytesPerSecond)}/s`;
  const link = `${megabytes(figures.bytesPerSecond)}/s`;
  const known = figures.isMeasured
    ? "as measured here"
    : "assumed until a first move has measured it";
  return [
    `${name} can move${howIt(forecast)}`,
    `  to send: ${megabytes(usedBytes)} of ${megabytes(memoryBytes)} memory${disks}, in ${rounds} ${rounds === 1 ? "round" : "rounds"}`,
    `  ${writes}; the link carries ${link} (${known})`,
  ].join("\n");
}

type Forecast = Extract<MoveForecast, { readonly obstacle?: undefined }>["forecast"];

/** How a move would end. */
function howIt({ end, durationMs, downtimeMs }: Forecast): string {
  const took = seconds(durationMs);
  const stands = `with a downtime of about ${downtimeMs} ms`;
  const stuck =
    ", but the migration would not converge: the guest writes as fast as its memory is sent";
  const advice = "try --postcopy, or a higher --bandwidth";
  switch (end) {
    case "preCopy":
      return `: in about ${took}, ${stands}`;
    case "postCopy":
      return ` by post-copy: in about ${took}, ${stands}; until then it is slow`;
    case "paused":
      return `${stuck}; it would be paused, and complete after about ${took}, ${stands}`;
    case "aborted":
      return `${stuck}; it would be aborted after about ${took}, and the guest would stay where it is; ${advice}`;
    case "never":
      return `${stuck}; ${advice}`;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 100e6 ? 1 : 0)} MB`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
