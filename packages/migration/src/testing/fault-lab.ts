import { TwoNodes } from "./two-nodes.ts";

/** Nodes for one case after another. The nodes of a case that fails are removed, so that the next case gets new ones. */
export class FaultLab implements AsyncDisposable {
  #lab: TwoNodes | undefined;

  async use<T>(act: (lab: TwoNodes) => Promise<T>): Promise<T> {
    const lab = await this.#ready();
    this.#lab = undefined;
    try {
      const result = await act(lab);
      this.#lab = lab;
      return result;
    } finally {
      if (!this.#lab) await lab[Symbol.asyncDispose]();
    }
  }

  async #ready(): Promise<TwoNodes> {
    if (this.#lab) return this.#lab;
    const lab = await TwoNodes.start();
    try {
      await lab.boot();
      return lab;
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lab?.[Symbol.asyncDispose]();
    this.#lab = undefined;
  }
}
