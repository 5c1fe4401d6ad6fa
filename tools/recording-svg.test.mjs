import { expect, test } from "vitest";
import { recordingSvg } from "./recording-svg.mjs";

test("each line appears at its time, as text and not as markup", () => {
  const svg = recordingSvg([
    { at: 0, text: "$ npm start" },
    { at: 5, text: "<boot> & go\x1b[2J\x07" },
  ]);
  expect(svg).toContain("&lt;boot&gt; &amp; go</text>");
  expect(svg).toContain("@keyframes l1{0%,50.00%{opacity:0}");
  expect(svg).not.toContain("keyframes l0");
});

test("a long line is cut", () => {
  expect(recordingSvg([{ at: 0, text: "x".repeat(500) }])).toContain(`${"x".repeat(109)}…<`);
});
