import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { OwnedFd } from "@virtkit/host-primitives";
import { receiveDatagram, sendDatagram, whenReadable } from "@virtkit/host-primitives/sockets";
import {
  encodeRouterAdvertisement,
  isRouterSolicitation,
  type RouterConfig,
} from "./router-advertisement.ts";
import { type GuestServer, newCounters } from "./server-counters.ts";

/** Clock and observers of the router. */
export interface RouterServerOptions extends Observers {
  readonly clock?: Clock | undefined;
}

const allNodes = "ff02::1";
/**
 * The first ones come quickly, for a guest that boots in between; later ones only keep the route.
 */
const firstIntervalMs = 2_000;
const firstAdvertisements = 8;
const intervalMs = 600_000;
/** More than a guest asks for; the kernel drops the rest of a flood. */
const maxPerWake = 64;
const maxMessageBytes = 1_500;

/**
 * Advertises the guest's router: at once, a few more times, then every ten minutes, and on request.
 * Node's event loop does not accept raw sockets, so `uv_poll` watches this one (`whenReadable`).
 * The server takes over the socket. Throws a `NetworkSetupError` on an invalid configuration.
 */
export function serveRouter(
  socket: OwnedFd,
  config: RouterConfig,
  { clock = realClock, log, metrics }: RouterServerOptions = {},
): GuestServer {
  const advertisement = encodeRouterAdvertisement(config);
  const { counters, count } = newCounters("router", metrics);
  const send = (): void => {
    try {
      sendDatagram(socket, advertisement, { address: allNodes });
      count("answered");
    } catch (error) {
      // The link has no carrier or its address is not confirmed yet: the next advertisement will
      // do.
      count("failed");
      log?.debug({ error: describeError(error) }, "the router was not advertised");
    }
  };
  const receive = (): void => {
    let asked = false;
    for (let left = maxPerWake; left > 0; left--) {
      const datagram = receiveDatagram(socket, { maxBytes: maxMessageBytes });
      if (!datagram) break;
      count("received");
      if (isRouterSolicitation(datagram.data)) asked = true;
      else count("malformed");
    }
    // One answer to all serves everyone who asked.
    if (asked) send();
  };
  let sent = 0;
  let timer: unknown;
  const advertise = (): void => {
    send();
    const wait = ++sent < firstAdvertisements ? firstIntervalMs : intervalMs;
    timer = clock.setTimeout(advertise, wait);
    clock.unref?.(timer);
  };
  const ending = new AbortController();
  const watching = watch(socket, ending.signal, receive, (error) => {
    count("failed");
    log?.debug({ error: describeError(error) }, "a router solicitation could not be read");
  });
  advertise();
  return {
    counters,
    async [Symbol.asyncDispose]() {
      clock.clearTimeout(timer);
      ending.abort();
      await watching;
      socket.close();
    },
  };
}

/**
 * Reads whenever there is something, until the signal. What cannot be read is counted and skipped.
 */
async function watch(
  socket: OwnedFd,
  signal: AbortSignal,
  receive: () => void,
  onError: (error: unknown) => void,
): Promise<void> {
  for await (const _ of whenReadable(socket, { signal })) {
    try {
      receive();
    } catch (error) {
      onError(error);
    }
  }
}
