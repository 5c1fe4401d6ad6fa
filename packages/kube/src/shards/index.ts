export { planShards, type ShardPlan, type ShardView } from "./plan-shards.ts";
export { shardOf } from "./shard-of.ts";
export { Shards, type ShardsOptions, type ShardWork } from "./shards.ts";
