/** The maximum length of a quantity's text; longer text is refused without reading its digits. */
export const maxQuantityLength = 4096;

/** The parts of a quantity's text, before its suffix is interpreted. */
export interface ScannedQuantity {
  readonly negative: boolean;
  /** Digits before the point without leading zeros; `0` if there are none. */
  readonly whole: string;
  /** Digits after the point, as written. */
  readonly fraction: string;
  /** Whether any digit was written before the suffix: `Gi` and `.` have none. */
  readonly hasDigits: boolean;
  /** Everything after the number. */
  readonly suffix: string;
}

const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;

/** Splits a string into number and suffix. Accepts any string: a number may have no digits at all. */
export function scanQuantity(text: string): ScannedQuantity {
  const first = text.charCodeAt(0);
  const start = first === minus || first === plus ? 1 : 0;
  const wholeStart = skipZeros(text, start);
  const wholeEnd = skipDigits(text, wholeStart);
  const hasPoint = text.charCodeAt(wholeEnd) === point;
  const end = hasPoint ? skipDigits(text, wholeEnd + 1) : wholeEnd;
  return {
    negative: first === minus,
    whole: wholeEnd > wholeStart ? text.slice(wholeStart, wholeEnd) : "0",
    fraction: hasPoint ? text.slice(wholeEnd + 1, end) : "",
    hasDigits: end - start > (hasPoint ? 1 : 0),
    suffix: end === text.length ? "" : text.slice(end),
  };
}

function skipZeros(text: string, from: number): number {
  let position = from;
  while (text.charCodeAt(position) === zero) position++;
  return position;
}

function skipDigits(text: string, from: number): number {
  let position = from;
  for (let code = text.charCodeAt(position); code >= zero && code <= nine; ) {
    position++;
    code = text.charCodeAt(position);
  }
  return position;
}
