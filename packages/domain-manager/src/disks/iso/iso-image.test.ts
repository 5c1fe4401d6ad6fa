import fc from "fast-check";
import { expect, test } from "vitest";
import { readIso } from "../../testing/read-iso.ts";
import { imageBytes } from "../image/sparse-image.ts";
import type { MediaFile } from "../media.ts";
import { sealText } from "../sealed.ts";
import { isoImage } from "./iso-image.ts";

function media(files: Readonly<Record<string, string>>, label = "cidata") {
  const list: MediaFile[] = Object.entries(files).map(([path, text]) => ({
    path,
    content: sealText(text),
  }));
  return { label, files: list };
}

function contents(image: Uint8Array, form: "rockRidge" | "joliet"): Record<string, string> {
  const files = [...readIso(image, form).entries].filter(([path]) => !path.endsWith("/"));
  return Object.fromEntries(files.map(([path, entry]) => [path, entry.content ?? ""]));
}

test("both trees contain every file, at its place and with its content", () => {
  const files = {
    "openstack/latest/meta_data.json": "{}",
    "openstack/latest/user_data": "x".repeat(5000),
    "openstack/content/a": "",
    "README.txt": "r",
    "é中.txt": "u",
  };
  const image = imageBytes(isoImage(media(files, "config-2")));
  expect(contents(image, "rockRidge")).toEqual(files);
  expect(contents(image, "joliet")).toEqual(files);
  expect(readIso(image, "rockRidge").label).toBe("config-2");
  expect(readIso(image, "joliet").label).toBe("config-2");
});

test("an empty medium is an image with an empty root", () => {
  expect(readIso(imageBytes(isoImage(media({}))), "rockRidge").entries.size).toBe(0);
});

test("files have the guest's modes, and everything belongs to its root", () => {
  const files = [{ path: "d/secret", content: sealText("s"), mode: 0o400 }];
  const { entries } = readIso(imageBytes(isoImage({ label: "l", files })), "rockRidge");
  expect(entries.get("d/secret")?.mode).toBe(0o100400);
  expect(entries.get("d/")?.mode).toBe(0o040555);
});

test("the same medium gives the same bytes, in whole MiB", () => {
  const [first, second] = [isoImage(media({ a: "1" })), isoImage(media({ a: "1" }))];
  expect(Buffer.from(imageBytes(first)).equals(imageBytes(second))).toBe(true);
  expect(first.size).toBe(1 << 20);
});

test("long names that differ only at the end stay distinct in the trees with shorter names", () => {
  const names = ["a", "b", "c"].map((end) => `${"n".repeat(200)}${end}.conf`);
  const files = Object.fromEntries(names.map((name) => [name, name.at(-6) ?? ""]));
  const image = imageBytes(isoImage(media(files)));
  expect(contents(image, "rockRidge")).toEqual(files);
  expect(Object.values(contents(image, "joliet")).sort()).toEqual(["a", "b", "c"]);
});

test("Rock Ridge reads back any names and contents, and Joliet has as many", () => {
  const part = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 120 })
    .filter((name) => !/^\.{1,2}$|[/\0]/.test(name) && Buffer.byteLength(name) <= 255);
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const tree = fc.dictionary(path, fc.string({ maxLength: 30 }), { maxKeys: 60 });
  fc.assert(
    fc.property(tree, (files) => {
      fc.pre(
        !Object.keys(files).some((a) => Object.keys(files).some((b) => b.startsWith(`${a}/`))),
      );
      const image = imageBytes(isoImage(media(files)));
      expect(new Map(Object.entries(contents(image, "rockRidge")))).toEqual(
        new Map(Object.entries(files)),
      );
      expect(Object.keys(contents(image, "joliet"))).toHaveLength(Object.keys(files).length);
    }),
    { numRuns: 60 },
  );
});

test("the reader of these tests finds a planted fault", () => {
  const image = imageBytes(isoImage(media({ file: "text" })));
  const good = contents(image, "rockRidge");
  let found = 0;
  for (let at = 16 * 2048; at < 30 * 2048; at++) {
    const byte = image[at] ?? 0;
    if (byte === 0) continue;
    image[at] = byte ^ 0x55;
    try {
      if (JSON.stringify(contents(image, "rockRidge")) !== JSON.stringify(good)) found++;
    } catch {
      found++;
    }
    image[at] = byte;
  }
  expect(found).toBeGreaterThan(20);
});

test.each(["../a", "/a", "a//b", "", ".", "a/..", "a\0b", "n".repeat(256), `${"d/".repeat(32)}f`])(
  "rejects %j as a path on a medium",
  (path) => {
    expect(() => isoImage(media({ [path]: "secret" }))).toThrow(
      expect.objectContaining({ code: "DISK_SOURCE_REFUSED" }),
    );
  },
);

test("rejects a file used as a directory, and duplicates", () => {
  for (const paths of [
    ["a", "a/b"],
    ["a/b", "a"],
    ["a", "a"],
  ]) {
    const files = paths.map((path) => ({ path, content: sealText("") }));
    expect(() => isoImage({ label: "l", files })).toThrow(/there twice|is a file/);
  }
});

test("limits size and number of files", () => {
  const limits = { maxBytes: 3, maxFiles: 2 };
  expect(isoImage(media({ a: "12", b: "3" }), limits).size).toBe(1 << 20);
  for (const files of [{ a: "1234" }, { a: "", b: "", c: "" }]) {
    expect(() => isoImage(media(files), limits)).toThrow(
      expect.objectContaining({ code: "DISK_TOO_LARGE" }),
    );
  }
});

test.each(["", "x".repeat(33), "zwölf", "a\nb"])("rejects %j as a label", (label) => {
  expect(() => isoImage(media({}, label))).toThrow(
    expect.objectContaining({ path: "volumeLabel" }),
  );
});
