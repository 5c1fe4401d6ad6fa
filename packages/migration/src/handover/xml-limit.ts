/**
 * How many characters the XML of a domain may have that another host sends. A source has no reason to send more; a guest with
 * 4096 pinned CPUs takes half of it.
 */
export const xmlLimit: number = 2 * 1024 * 1024;
