/** Maximum number of entries; more is a mistake, and would cost memory. */
const limit = 50_000;

const item = /^(-?\d+)(?:-(-?\d+))?$/;

/** The numbers in a list such as `0-3,8`; `undefined` if it is not valid. */
export function parseCpuList(text: string): number[] | undefined {
  const numbers: number[] = [];
  for (const part of text.split(",")) {
    const match = item.exec(part);
    if (!match) return undefined;
    const start = Number(match[1]);
    const end = match[2] === undefined ? start : Number(match[2]);
    if (numbers.length + end - start > limit) return undefined;
    for (let number = start; number <= end; number++) numbers.push(number);
  }
  return numbers;
}
