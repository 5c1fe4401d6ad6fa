import type { Configurator, Draft } from "../draft.ts";

export const ioThreads: Configurator = {
  name: "io-threads",
  summary: "The number of I/O threads.",
  configure({ ioThreads: { total }, domain }: Draft): void {
    if (total > 0) domain.iothreads = total;
  },
};
