#!/usr/bin/env node
/**
 * Checks the site that `npm run docs` wrote, in a real browser: `npm run docs:check [-- PICTURES]`. No link may be dead or
 * lead to a place that its page does not have, no page of text may be wider than a phone, and the search must find guides
 * and symbols. With a folder, it writes pictures of a few pages there.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const site = fileURLToPath(new URL("../../docs/reference", import.meta.url));
const pictures = process.argv[2];
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const phone = { width: 390, height: 844 };

/** @type {string[]} */
const faults = [];

/** Every page, relative to the site. */
const pages = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".html"),
);
/** @type {Map<string, string>} */
const htmlOf = new Map(pages.map((page) => [page, readFileSync(path.join(site, page), "utf8")]));
const anchorsOf = new Map(
  [...htmlOf].map(([page, html]) => [
    page,
    new Set([...html.matchAll(/\s(?:id|name)="([^"]+)"/g)].map(([, anchor = ""]) => anchor)),
  ]),
);
for (const [page, html] of htmlOf) {
  const links = html.matchAll(
    /(?:href|src)="(?!https?:|mailto:|data:)([^"#?]*)(?:\?[^"#]*)?(?:#([^"]*))?"/g,
  );
  for (const [, target = "", anchor = ""] of links) {
    const file = target === "" ? page : path.join(path.dirname(page), decodeURI(target));
    if (!existsSync(path.join(site, file))) faults.push(`${page}: the link to ${target} is dead`);
    const missing = anchor !== "" && !anchorsOf.get(file)?.has(decodeURIComponent(anchor));
    if (missing && file.endsWith(".html"))
      faults.push(`${page}: ${target} has no place called #${anchor}`);
  }
}

const browser = await chromium.launch({
  ...(executablePath ? { executablePath } : {}),
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"],
});
try {
  const view = await browser.newPage({ viewport: phone });
  const texts = ["index.html", ...pages.filter((page) => page.startsWith("documents/"))];
  for (const page of texts) {
    const address = pathToFileURL(path.join(site, page)).href;
    await view.goto(address, { waitUntil: "domcontentloaded" });
    const width = await view.evaluate(() => document.documentElement.scrollWidth);
    if (width > phone.width)
      faults.push(`${page}: is ${width} pixels wide on a phone of ${phone.width}`);
  }
  await view.setViewportSize({ width: 1280, height: 900 });
  await view.goto(pathToFileURL(path.join(site, "index.html")).href);
  for (const [word, found] of [
    ["stuck", "debug-a-stuck-vm"],
    ["planVm", "planVm"],
  ]) {
    await view.locator("#tsd-search-trigger").click();
    await view.locator("#tsd-search-input").fill(word ?? "");
    // Waits for the result itself: the results of the previous word are still shown for a moment.
    const result = view.locator(`#tsd-search-results a[href*="${found}"]`).first();
    await result.waitFor({ timeout: 20_000 }).catch(() => {
      faults.push(`the search for ${word} does not find ${found}`);
    });
    await view.keyboard.press("Escape");
  }
  if (pictures) {
    for (const [name, page, size] of /** @type {const} */ ([
      ["home", "index.html", { width: 1280, height: 900 }],
      ["home-phone", "index.html", phone],
      ["guide-phone", "documents/docs_guides_debug-a-stuck-vm.html", phone],
      ["guide", "documents/docs_guides_unit-test-a-vmi.html", { width: 1280, height: 900 }],
    ])) {
      await view.setViewportSize(size);
      await view.goto(pathToFileURL(path.join(site, page)).href);
      await view.screenshot({ path: path.join(pictures, `${name}.png`) });
    }
  }
} finally {
  await browser.close();
}
for (const fault of faults.slice(0, 50)) process.stdout.write(`${fault}\n`);
process.stdout.write(`${pages.length} pages, ${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
