/** @typedef {"checks" | "unit" | "host" | "cluster"} Tier */

/**
 * @typedef {object} Need
 * @property {string} debian the Debian package that brings it
 * @property {string} [command] found on PATH when the need is met
 * @property {string} [file] exists when the need is met, for what is no command
 */

/** What each test tier needs of the system. @type {Record<Tier, Need[]>} */
export const needs = {
  checks: [],
  unit: [],
  host: [
    { command: "nft", debian: "nftables" },
    { command: "ping", debian: "iputils-ping" },
    { file: "/usr/lib/cni/bridge", debian: "containernetworking-plugins" },
  ],
  cluster: [{ command: "etcd", debian: "etcd-server" }],
};

/** The tiers, in the order in which `npm test` runs them. */
export const tiers = /** @type {Tier[]} */ (Object.keys(needs));
