/**
 * @typedef {object} RecordedLine
 * @property {number} at seconds since the start
 * @property {string} text
 */

const columns = 110;
const lineHeight = 18;
const margin = 16;

/** Everything except printable text: a guest's console may send control sequences. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this expression looks for them.
const control = /\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]/g;

/**
 * A terminal's lines as a picture that needs no script: each line appears when it was printed, and the whole
 * repeats. Without motion (`prefers-reduced-motion`, or a viewer without animations) all lines are shown.
 * @param {readonly RecordedLine[]} lines
 */
export function recordingSvg(lines) {
  const shown = lines.map(({ at, text }) => ({ at, text: clean(text) }));
  const seconds = (shown.at(-1)?.at ?? 0) + 5;
  const width = columns * 7.8 + 2 * margin;
  const height = shown.length * lineHeight + 2 * margin;
  const rows = shown.map(({ at, text }, index) => {
    const y = margin + (index + 0.75) * lineHeight;
    const begin = ((at / seconds) * 100).toFixed(2);
    const style = `<style>@keyframes l${index}{0%,${begin}%{opacity:0}${Number(begin) + 0.01}%,100%{opacity:1}}#l${index}{animation:l${index} ${seconds.toFixed(1)}s infinite}</style>`;
    return `${at === 0 ? "" : style}<text id="l${index}" x="${margin}" y="${y}" xml:space="preserve">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="npm start boots a virtual machine, moves it and stops it">
<style>text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#d7dbe0}@media (prefers-reduced-motion:reduce){text{animation:none!important}}</style>
<rect width="100%" height="100%" rx="8" fill="#15191f"/>
${rows.join("\n")}
</svg>
`;
}

/** @param {string} text */
function clean(text) {
  const plain = text.replaceAll(control, "").replaceAll("\t", "    ").trimEnd();
  return plain.length > columns ? `${plain.slice(0, columns - 1)}…` : plain;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
