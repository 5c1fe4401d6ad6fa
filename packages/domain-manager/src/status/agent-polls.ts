import type { GuestAgent } from "../agent/guest-agent.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { GuestFileSystem, GuestUser } from "../manager/guest-control.ts";
import type { Poll } from "./agent-poller.ts";
import type { GuestTold } from "./guest-record.ts";

/** Milliseconds between two questions, by what is asked. */
export interface PollIntervals {
  /** Operating system, name, time zone, interfaces. */
  readonly system: number;
  readonly fileSystems: number;
  readonly users: number;
  readonly agent: number;
  readonly fsFreeze: number;
}

/** As KubeVirt's. */
export const pollIntervals: PollIntervals = {
  system: 120_000,
  fileSystems: 300_000,
  users: 10_000,
  agent: 300_000,
  fsFreeze: 5_000,
};

/** Lists that are polled but not part of the status. */
export interface PolledLists {
  readonly users?: readonly GuestUser[];
  readonly fileSystems?: readonly GuestFileSystem[];
}

/** Where answers go. */
export interface PollSinks {
  readonly told: (told: GuestTold) => void;
  readonly listed: (lists: PolledLists) => void;
}

/** The questions to an agent, in the order of the first round. */
export function agentPolls(
  agent: () => GuestAgent,
  intervals: PollIntervals,
  { told, listed }: PollSinks,
): readonly Poll[] {
  const poll = <T>(
    interval: number,
    ask: (agent: GuestAgent, options: CallOptions) => Promise<T>,
    take: (answer: T) => void,
  ): Poll => ({
    interval,
    run: async (signal) => {
      const answer = await ask(agent(), { signal });
      if (!signal.aborted) take(answer);
    },
  });
  const { system, fileSystems, users, agent: about, fsFreeze } = intervals;
  return [
    poll(
      about,
      async (asked, options) => await asked.info(options),
      ({ version, commands }) => {
        const enabled = commands.filter((command) => command.enabled).map(({ name }) => name);
        told({ agentVersion: version, agentCommands: enabled });
      },
    ),
    poll(
      system,
      async (asked, options) => await asked.interfaces(options),
      (interfaces) => told({ interfaces }),
    ),
    poll(
      system,
      async (asked, options) => await asked.os(options),
      (os) => told({ os }),
    ),
    poll(
      system,
      async (asked, options) => await asked.hostname(options),
      (hostname) => told({ hostname }),
    ),
    poll(
      system,
      async (asked, options) => await asked.timezone(options),
      ({ zone, offset }) => told({ timezone: `${zone}, ${offset}` }),
    ),
    poll(
      fsFreeze,
      async (asked, options) => await asked.fsFreezeStatus(options),
      (found) => told({ fsFreeze: found }),
    ),
    poll(
      users,
      async (asked, options) => await asked.users(options),
      (found) => listed({ users: found }),
    ),
    poll(
      fileSystems,
      async (asked, options) => await asked.fileSystems(options),
      (found) => listed({ fileSystems: found }),
    ),
  ];
}
