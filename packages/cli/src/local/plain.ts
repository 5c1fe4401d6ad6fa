/** Text from a guest or its launcher, on one line: a terminal obeys control characters. */
export function plain(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
