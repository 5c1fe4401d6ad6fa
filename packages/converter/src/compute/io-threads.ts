import type { Configurator, Draft } from "../draft.ts";

/** The number of I/O threads. */
export const ioThreads: Configurator = {
  name: "io-threads",
  configure({ ioThreads: { total }, domain }: Draft): void {
    if (total > 0) domain.iothreads = total;
  },
};
