/** At most this many characters of a text. A copy: V8 keeps all of a text of which somebody has a part. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return Buffer.from(text.slice(0, most), "utf16le").toString("utf16le");
}
