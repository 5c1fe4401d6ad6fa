import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CounterHistory } from "./counter-history.ts";
import { type Count, readCount, readCounts, type WrittenCount } from "./guest-counter.ts";

/** A guest whose memory can be copied; a copy continues from it. */
class Guest {
  count = -1;
  beat = 0;
  time: number;
  readonly boot: string;
  readonly #disk: Map<number, WrittenCount>;

  constructor(disk: Map<number, WrittenCount>, boot = "a", time = 1) {
    this.#disk = disk;
    this.boot = boot;
    this.time = time;
    this.count = disk.size - 1;
  }

  copy(later = 0): Guest {
    const copied = new Guest(this.#disk, this.boot, this.time + later);
    copied.count = this.count;
    copied.beat = this.beat;
    return copied;
  }

  run(steps = 3): Count {
    for (let step = 0; step < steps; step++) {
      this.count++;
      this.beat += 2;
      this.time += 0.25;
      this.#disk.set(this.count, { boot: this.boot, at: `${this.time}` });
    }
    return this.said();
  }

  said(): Count {
    return { boot: this.boot, beat: this.beat, disk: this.count, at: `${this.time}` };
  }
}

function scene() {
  const disk = new Map<number, WrittenCount>();
  const history = new CounterHistory();
  const see = (guest: Guest, steps?: number): void => {
    history.noteSaid(guest.run(steps));
    history.noteDisk(disk);
  };
  return { disk, history, see, guest: new Guest(disk) };
}

test("a guest that moves, and one that restarts after its end, are one guest", () => {
  const { disk, history, see, guest } = scene();
  see(guest);
  const moved = guest.copy();
  see(moved);
  see(new Guest(disk, "b"));
  expect(history.faults(disk)).toEqual([]);
  expect(history.highest).toBe(8);
});

test("control: catches a naive handover whose source continues while its copy runs", () => {
  const { disk, history, see, guest } = scene();
  see(guest);
  const copy = guest.copy(0.1);
  see(guest);
  see(copy);
  expect(history.faults(disk)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^count 3 was written twice/)]),
  );
});

test("control: catches a fork from the disk alone, and from the guest's answers alone", () => {
  const byDisk = scene();
  byDisk.guest.run();
  const forked = byDisk.guest.copy(0.1);
  byDisk.guest.run();
  byDisk.history.noteDisk(byDisk.disk);
  forked.run();
  expect(byDisk.history.faults(byDisk.disk)[0]).toMatch(/^count 3 was written twice/);

  const byWords = scene();
  byWords.guest.run();
  const other = byWords.guest.copy(0.1);
  byWords.history.noteSaid(byWords.guest.run());
  byWords.history.noteSaid(other.run());
  expect(byWords.history.faults(byWords.disk)[0]).toMatch(/^count 5 was written twice/);
});

test("control: catches a copy of old memory that runs again", () => {
  const { disk, history, see, guest } = scene();
  see(guest);
  const old = guest.copy();
  see(guest);
  history.noteSaid(old.said());
  expect(history.faults(disk)[0]).toMatch(/^the guest went back from beat 12, disk 5 to beat 6/);
});

test("control: catches a lost acknowledged write", () => {
  const { disk, history, see, guest } = scene();
  see(guest);
  disk.delete(2);
  expect(history.faults(disk)).toEqual([
    expect.stringMatching(/^count 2 was acknowledged .* the disk has nothing there$/),
    "count 2 is missing on the disk",
  ]);
});

test("control: catches an old guest that runs next to a new one", () => {
  const { disk, history, see, guest } = scene();
  see(guest);
  const fresh = new Guest(disk, "b");
  see(fresh);
  guest.count = disk.size - 1;
  see(guest);
  expect(history.faults(disk)).toEqual([
    "boot a still counts after boot b has begun",
    expect.stringMatching(/^count 6 belongs to boot a, which was over/),
    ...[7, 8].map((count) =>
      expect.stringMatching(new RegExp(`^count ${count} belongs to boot a`)),
    ),
  ]);
});

test("reads counts from a disk up to the first incomplete one", () => {
  const folder = mkdtempSync(join(tmpdir(), "virtkit-counts-"));
  try {
    const image = join(folder, "disk.img");
    const line = (count: number): string => `${count} boot-a ${count}.25`.padEnd(511).concat("\n");
    writeFileSync(image, `${line(0)}${line(1)}${"\0".repeat(512)}${line(3)}`);
    expect([...readCounts(image, 0)]).toEqual([
      [0, { boot: "boot-a", at: "0.25" }],
      [1, { boot: "boot-a", at: "1.25" }],
    ]);
    expect([...readCounts(image, 1, 1).keys()]).toEqual([1]);
    expect(readCounts(join(folder, "missing"), 0).size).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("reads what a guest reports, and rejects an incomplete report", () => {
  expect(readCount("boot=a-b beat=12 disk=3 at=4.25\n")).toEqual({
    ...{ boot: "a-b", beat: 12, disk: 3, at: "4.25" },
  });
  expect(() => readCount("boot=a-b beat=12 \n")).toThrow("does not count yet");
});
