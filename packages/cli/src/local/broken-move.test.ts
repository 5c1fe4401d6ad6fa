import { Writable } from "node:stream";
import type { MigrationReport } from "@virtkit/local";
import { whyBroken } from "@virtkit/local";
import { expect, test } from "vitest";
import { tellBrokenMove } from "./broken-move.ts";

test("each new reason of the source is reported once, until the move is settled", () => {
  const lines: string[] = [];
  const stderr = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const tell = tellBrokenMove("demo", whyBroken, { stderr });
  const report = (parts: Partial<MigrationReport>): MigrationReport => ({
    ...{ migrationUID: "mig", role: "source", revision: 1, step: "perform.before" },
    ...parts,
  });
  const broken = { outcome: "broken", why: "the link is down" };
  tell(report({ why: "all is well" }));
  tell(report(broken));
  tell(report({ role: "target" }));
  tell(report(broken));
  tell(report({ outcome: "broken", why: "the target is silent" }));
  tell(report({ ...broken, settled: "ended" }));
  tell(report({ outcome: "moved", settled: "ended" }));
  expect(lines).toEqual([
    expect.stringMatching(/^demo: its post-copy is broken: .*the link is down;/),
    expect.stringMatching(/the target is silent;/),
  ]);
});
