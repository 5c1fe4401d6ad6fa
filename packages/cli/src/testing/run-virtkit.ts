import { Readable, Writable } from "node:stream";
import type { Io } from "../io.ts";
import { main } from "../main.ts";

/** The output of a run of `virtkit`. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `virtkit` in this process, with its own streams. `onMessage` gets all its messages so far. */
export async function runVirtkit(
  args: readonly string[],
  stdin: string | Buffer = "",
  onMessage?: (text: string) => void,
): Promise<Run> {
  const [out, err] = [new Collector(), new Collector(onMessage)];
  const io: Io = {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: out,
    stderr: err,
    isTerminal: false,
    env: {},
  };
  const code = await main(args, io);
  return { code, out: out.text, err: err.text };
}

class Collector extends Writable {
  text = "";
  readonly #onText: (text: string) => void;

  constructor(onText: (text: string) => void = () => {}) {
    super();
    this.#onText = onText;
  }

  override _write(chunk: unknown, _: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    this.#onText(this.text);
    done();
  }
}
