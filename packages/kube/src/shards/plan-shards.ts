/** What a member knows. */
export interface ShardView {
  readonly shards: number;
  readonly identity: string;
  /** The identities of all members that are alive, with or without this one. */
  readonly members: readonly string[];
  /** Shards that this member works on, or is about to. */
  readonly held: readonly number[];
  /** Shards that nobody holds, or whose holder has not renewed its lease in time. */
  readonly free: readonly number[];
}

/** What a member does next. */
export interface ShardPlan {
  readonly take: readonly number[];
  /** Their work ends, and then their leases are released. */
  readonly release: readonly number[];
}

/**
 * Decides a member's part from the list of members alone: the shards are divided by the number of members,
 * and the first members by name get one of the remainder each. A member with too many shards releases some; a
 * member with too few takes free ones. Members that do not agree on who is alive may do this without effect,
 * but never work on the same shard at once: the leases decide.
 */
export function planShards({ shards, identity, members, held, free }: ShardView): ShardPlan {
  const all = [...new Set([...members, identity])].sort();
  const rest = shards % all.length;
  const part = Math.floor(shards / all.length) + (all.indexOf(identity) < rest ? 1 : 0);
  if (held.length > part) return { take: [], release: held.slice(part) };
  const open = free.filter((shard) => !held.includes(shard));
  // Not all members at the same shard first: each begins at a place of its own.
  const start = Math.floor((all.indexOf(identity) / all.length) * open.length);
  const inTurn = [...open.slice(start), ...open.slice(0, start)];
  return { take: inTurn.slice(0, part - held.length), release: [] };
}
