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

/** How the router keeps time, and whom it tells. */
export interface RouterServerOptions extends Observers {
  readonly clock?: Clock | undefined;
}

const allNodes = "ff02::1";
/** The first ones come fast, for a guest that comes up in between; later ones only keep the route. */
const firstIntervalMs = 2_000;
const firstAdvertisements = 8;
const intervalMs = 600_000;
/** More than a guest asks for; the rest of a flood is left to the kernel to drop. */
const maxPerWake = 64;
const maxMessageBytes = 1_500;

/**
 * Advertises the guest's router: at once, a few times more, then every ten minutes, and to whoever
 * asks. Node's event loop does not take raw sockets, so this one is watched by `uv_poll` (`whenReadable`). The socket
 * is this server's from now on. Throws a `NetworkSetupError` on an invalid configuration.
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
      // The link has no carrier or its address is not confirmed yet: the next one will do.
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
    // One answer to all serves everybody who asked.
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

/** Reads whenever there is something, until the signal. What cannot be read is counted and passed over. */
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
