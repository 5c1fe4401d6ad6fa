const pattern = /^[\da-fA-F]{4}:[\da-fA-F]{2}:[\da-fA-F]{2}\.[0-7]$/;

/** Whether the text is `domain:bus:slot.function`, for example 0000:81:01.0. */
export function isPciAddress(text: string): boolean {
  return pattern.test(text);
}
