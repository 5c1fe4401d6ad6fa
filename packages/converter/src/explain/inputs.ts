/** What is converted: plain values by name. */
export type Inputs = Readonly<Record<string, unknown>>;
