import { createHash } from "node:crypto";

/**
 * The shard of a namespace, from 0 to `shards - 1`: the same in every process and every release. Objects without a
 * namespace are all in one shard.
 */
export function shardOf(namespace: string | undefined, shards: number): number {
  const hash = createHash("sha256")
    .update(namespace ?? "")
    .digest();
  return hash.readUInt32BE(0) % shards;
}
