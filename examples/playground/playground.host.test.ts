/// <reference lib="dom" />
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { build, type PreviewServer, preview } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const outDir = mkdtempSync(join(tmpdir(), "virtkit-playground-"));

/** Where to write a picture of the page, if wanted; the README shows it. */
const screenshot = process.env["VIRTKIT_SCREENSHOT"];

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let server: PreviewServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  const common = { root, configFile: false, base: "./", logLevel: "error" } as const;
  // The sources, so that the present code is tested and not the last build.
  const resolve = { conditions: ["@virtkit/source", "module", "browser", "production"] };
  await build({ ...common, resolve, build: { outDir, emptyOutDir: true } });
  server = await preview({
    ...common,
    build: { outDir },
    preview: { host: "127.0.0.1", port: 0, strictPort: false },
  });
  browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(outDir, { recursive: true, force: true });
});

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(server.resolvedUrls?.local[0] ?? "");
  await page.locator("#xml .line").first().waitFor();
});

afterEach(async () => {
  await page.close();
});

function vmi(): Locator {
  return page.getByLabel("VMI", { exact: true });
}

function part(text: string): Locator {
  return page.locator("#xml button", { hasText: text }).first();
}

async function edit(from: string, to: string): Promise<void> {
  await vmi().fill((await vmi().inputValue()).replace(from, to));
}

async function boxes(): Promise<unknown> {
  const parts = [".editors", "#first .field", "#xml", "#why"];
  return await Promise.all(parts.map((selector) => page.locator(selector).boundingBox()));
}

describe("the playground", () => {
  test("shows the domain of what is typed", async () => {
    await part('cache="none"').waitFor();
    await edit("cache: none", "cache: writethrough");
    await part('cache="writethrough"').waitFor();
  });

  test("says on hover where a part comes from, and marks the line", async () => {
    await part('cache="none"').hover();
    const why = page.getByLabel("Explanation");
    await expectText(why, 'It follows from spec.domain.devices.disks[0].cache ("none").');
    expect(await page.locator("#first .gutter .source").allTextContents()).toEqual(["17"]);
    await part("<graphics").hover();
    await expectText(why, "spec.domain.devices.autoattachGraphicsDevice is not set");
    await expectText(why, "rule graphics: The display");
    if (screenshot) {
      await part('cache="none"').hover();
      await page.screenshot({ path: screenshot });
    }
  });

  test("marks what follows from the line of the cursor", async () => {
    const text = await vmi().inputValue();
    await vmi().evaluate((area, offset) => {
      (area as HTMLTextAreaElement).focus();
      (area as HTMLTextAreaElement).setSelectionRange(offset, offset);
    }, text.indexOf("cores: 1"));
    await page.locator("#xml .from-line", { hasText: 'cores="1"' }).waitFor();
  });

  test("shows faults at their line, and keeps the last domain in sight", async () => {
    await edit("bus: virtio", "bus: 5");
    const note = page.locator("#first .notes div:nth-child(16)");
    await expectText(note, "must be a string");
    expect(await vmi().getAttribute("aria-invalid")).toBe("true");
    await page.locator("#xml.stale").waitFor();
    await page.getByRole("button", { name: "Line 16" }).click();
    expect(await vmi().evaluate((area) => area === document.activeElement)).toBe(true);
    await edit("bus: 5", "bus: scsi");
    await part('bus="scsi"').waitFor();
    expect(await page.locator("#first .problems li").count()).toBe(0);
  });

  test("shows what admission refuses, and text that is not YAML", async () => {
    await edit("bus: virtio", "bus: warp");
    await expectText(page.locator("#first .problems"), "spec.domain.devices.disks[0]");
    expect(await page.locator("#first .notes .faulty").count()).toBe(1);
    await edit("spec:", "spec: [");
    await page.locator("#first .notes .faulty").first().waitFor();
  });

  test("compares two VMIs", async () => {
    await page.getByLabel("two VMIs compared").check();
    await page.locator("#xml .added", { hasText: 'cores="2"' }).waitFor();
    await page.locator("#xml .removed", { hasText: 'cores="1"' }).waitFor();
    await page.locator("#why [data-effect='needs-restart']").first().waitFor();
    await page.getByLabel("Compared with").fill(await vmi().inputValue());
    await expectText(page.getByRole("heading", { level: 2 }), "The domains are the same");
  });

  test("works with the keyboard alone", async () => {
    await vmi().focus();
    await page.keyboard.press("Tab");
    const why = page.getByLabel("Explanation");
    await expectText(why, "domain");
    await page.keyboard.press("ArrowDown");
    await expectText(why, "It follows from metadata.name");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    await expectText(why, "@type");
    await page.keyboard.press("Shift+Tab");
    expect(await vmi().evaluate((area) => area === document.activeElement)).toBe(true);
  });

  test("does not move its parts while it is used", async () => {
    const before = await boxes();
    await part('cache="none"').hover();
    await edit("bus: virtio", "bus: 5");
    await page.locator("#xml.stale").waitFor();
    expect(await boxes()).toEqual(before);
  });

  test("is light or dark like the system", async () => {
    const background = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: "light" });
    const light = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await background()).not.toBe(light);
  });

  test("colours the input and the result, exactly in place", async () => {
    await page.locator("#first .notes .key", { hasText: "cores" }).waitFor();
    await page.locator("#xml .string", { hasText: '"none"' }).first().waitFor();
    const text = await vmi().inputValue();
    const behind = await page.locator("#first .notes > div").allTextContents();
    expect(behind.join("\n")).toBe(text);
    await vmi().fill(`${text}\n# ${"long ".repeat(100)}`.repeat(3));
    const offsets = await vmi().evaluate((area) => {
      area.scrollTop = area.scrollHeight;
      area.scrollLeft = area.scrollWidth;
      area.dispatchEvent(new Event("scroll"));
      const notes = document.querySelector("#first .notes") as HTMLElement;
      return [area.scrollTop - notes.scrollTop, area.scrollLeft - notes.scrollLeft];
    });
    expect(offsets).toEqual([0, 0]);
  });

  test("survives aliases that stand for more than can be held, with the command line's message", async () => {
    const bomb = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"].concat(
      Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]`),
    );
    const sound = await vmi().inputValue();
    await vmi().fill(bomb.join("\n"));
    await expectText(page.locator("#first .problems"), "aliases count each time");
    await vmi().fill(sound.replace("cache: none", "cache: writethrough"));
    await part('cache="writethrough"').waitFor();
  });

  test("fits a phone: the header is not cut off, and the page does not scroll sideways", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const edges = await page.evaluate(() =>
      [...document.querySelectorAll("header, header *")].map(
        (each) => each.getBoundingClientRect().right,
      ),
    );
    expect(Math.max(...edges)).toBeLessThanOrEqual(390);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      390,
    );
    if (screenshot) await page.screenshot({ path: screenshot.replace(".png", "-390.png") });
  });

  test("treats hostile text as text", async () => {
    const attack = "<img src=x onerror=document.title=1>";
    await edit("name: demo", `name: "${attack}"`);
    await page.locator("#first .notes .faulty, #xml").first().waitFor();
    await page.waitForTimeout(300);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe("Virtkit playground");
  });
});

async function expectText(locator: Locator, text: string): Promise<void> {
  await expect
    .poll(() => locator.allTextContents().then(String), { timeout: 20_000 })
    .toContain(text);
}
