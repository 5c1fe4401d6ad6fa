import { Duplex } from "node:stream";

/** Two ends of one connection, in this process: each reads what the other writes, at its own pace. */
export function duplexPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const waiting: ((() => void) | undefined)[] = [];
  const make = (own: number): Duplex =>
    new Duplex({
      read() {
        waiting[own]?.();
        waiting[own] = undefined;
      },
      write(chunk, _encoding, done) {
        const other = 1 - own;
        if (ends[other]?.push(chunk)) done();
        else waiting[other] = done;
      },
      final(done) {
        ends[1 - own]?.push(null);
        done();
      },
      destroy(error, done) {
        const other = ends[1 - own];
        if (other && !other.destroyed) other.destroy();
        done(error);
      },
    });
  ends.push(make(0), make(1));
  return ends as [Duplex, Duplex];
}
