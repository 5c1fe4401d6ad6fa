const chunkBits = 16;
const chunkStates = 1 << chunkBits;

/** Numbers that are only added to, in chunks: a copy of one large array would need twice the memory. */
export class NumberList {
  readonly #chunks: Int32Array[] = [];
  length = 0;

  push(value: number): void {
    if ((this.length & (chunkStates - 1)) === 0) this.#chunks.push(new Int32Array(chunkStates));
    this.set(this.length++, value);
  }

  at(index: number): number {
    return this.#chunks[index >>> chunkBits]?.[index & (chunkStates - 1)] ?? 0;
  }

  set(index: number, value: number): void {
    const chunk = this.#chunks[index >>> chunkBits];
    if (chunk) chunk[index & (chunkStates - 1)] = value;
  }
}

/**
 * All states that were seen, each a number. They are stored completely and compared byte by byte, so two
 * states are never confused; a table of fingerprints would be smaller, but could be wrong.
 */
export class StateTable {
  readonly width: number;
  size = 0;
  readonly #chunks: Uint8Array[] = [];
  /** Number of a state plus one, 0 if the place is free. */
  #places = new Int32Array(1 << 16);

  constructor(width: number) {
    this.width = width;
  }

  /** The state's number, negative minus one if it was seen before. */
  add(state: Uint8Array): number {
    if (this.size * 2 >= this.#places.length) this.#grow();
    const place = this.#find(state);
    const found = this.#places[place] ?? 0;
    if (found !== 0) return -found;
    const number = this.size++;
    if ((number & (chunkStates - 1)) === 0) {
      this.#chunks.push(new Uint8Array(chunkStates * this.width));
    }
    this.#places[place] = number + 1;
    this.bytes(number).set(state);
    return number;
  }

  /** The bytes of a state: a view, not a copy. */
  bytes(number: number): Uint8Array {
    const start = (number & (chunkStates - 1)) * this.width;
    return (this.#chunks[number >>> chunkBits] as Uint8Array).subarray(start, start + this.width);
  }

  #find(state: Uint8Array): number {
    const mask = this.#places.length - 1;
    let place = hash(state, 0, this.width) & mask;
    for (;;) {
      const found = this.#places[place] ?? 0;
      if (found === 0 || this.#isAt(found - 1, state)) return place;
      place = (place + 1) & mask;
    }
  }

  #isAt(number: number, state: Uint8Array): boolean {
    const chunk = this.#chunks[number >>> chunkBits] as Uint8Array;
    const start = (number & (chunkStates - 1)) * this.width;
    for (let byte = 0; byte < this.width; byte++) {
      if (chunk[start + byte] !== state[byte]) return false;
    }
    return true;
  }

  #grow(): void {
    const places = new Int32Array(this.#places.length * 2);
    const mask = places.length - 1;
    for (let number = 0; number < this.size; number++) {
      const chunk = this.#chunks[number >>> chunkBits] as Uint8Array;
      const start = (number & (chunkStates - 1)) * this.width;
      let place = hash(chunk, start, this.width) & mask;
      while (places[place] !== 0) place = (place + 1) & mask;
      places[place] = number + 1;
    }
    this.#places = places;
  }
}

/** FNV-1a with a last mix; only the place in the table depends on it. */
function hash(bytes: Uint8Array, start: number, width: number): number {
  let sum = 0x811c9dc5;
  for (let byte = 0; byte < width; byte++) {
    sum = Math.imul(sum ^ (bytes[start + byte] ?? 0), 0x01000193);
  }
  sum ^= sum >>> 15;
  sum = Math.imul(sum, 0x2c1b3c6d);
  return (sum ^ (sum >>> 13)) >>> 0;
}
