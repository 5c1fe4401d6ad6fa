import type { MigrationWires } from "@virtkit/testing/hypervisor";

/** One launcher's part of the wires: a launcher that has ended sends and receives nothing. */
export function launcherWires(wires: MigrationWires, hasEnded: () => boolean): MigrationWires {
  const out =
    (send: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]): Promise<unknown> => {
      if (hasEnded()) return await never;
      const settle = (): boolean => hasEnded();
      try {
        const answer = await send.apply(wires, args);
        return settle() ? await never : answer;
      } catch (error) {
        if (settle()) return await never;
        throw error;
      }
    };
  const own: Record<string, unknown> = {
    listen: (uid: string, target: object) => wires.listen(uid, mortal(target, hasEnded) as never),
    answer: (uid: string, source: object) => wires.answer(uid, mortal(source, hasEnded) as never),
    toTarget: out(wires.toTarget as never),
    toSource: out(wires.toSource as never),
  };
  return new Proxy(wires, {
    get: (_, key) => {
      if (typeof key === "string" && key in own) return own[key];
      const value: unknown = Reflect.get(wires, key, wires);
      return typeof value === "function" ? value.bind(wires) : value;
    },
  });
}

const never = new Promise<never>(() => {});

/** One end as its peer has it. */
function mortal(end: object, hasEnded: () => boolean): object {
  return new Proxy(end, {
    get: (_, key) => {
      const value: unknown = Reflect.get(end, key, end);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (!hasEnded()) return value.apply(end, args);
        // A message without an answer reaches nobody.
        if (key === "complete" || key === "breaks") return undefined;
        const error = new Error("the launcher has ended");
        return Promise.reject(
          Object.assign(error, {
            name: "MigrationError",
            code: "MIGRATION_PEER",
            path: String(key),
          }),
        );
      };
    },
  });
}
