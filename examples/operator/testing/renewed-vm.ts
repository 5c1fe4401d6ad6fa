import { isDamaged, onceMoreIfDamaged } from "./guest-damaged.ts";
import type { MovingVm } from "./moving-vm.ts";

/** A VM that a test has started. Disposing of it removes it. */
export interface StartedVm extends AsyncDisposable {
  readonly vm: MovingVm;
}

/** A VM for one test after another, which is replaced if QEMU has damaged its guest. */
export class RenewedVm implements AsyncDisposable {
  readonly #start: () => Promise<StartedVm>;
  #current: StartedVm | undefined;

  constructor(start: () => Promise<StartedVm>) {
    this.#start = start;
  }

  /** The VM that there is now. */
  get vm(): MovingVm | undefined {
    return this.#current?.vm;
  }

  /** Runs a test, and once more with a new VM if the guest was damaged. */
  async use(act: (vm: MovingVm) => Promise<void> = async () => {}): Promise<void> {
    await onceMoreIfDamaged(async () => {
      this.#current ??= await this.#start();
      try {
        await act(this.#current.vm);
      } catch (error) {
        if (isDamaged(error)) await this[Symbol.asyncDispose]();
        throw error;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.[Symbol.asyncDispose]();
  }
}
