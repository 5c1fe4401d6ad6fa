import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const repository = "https://github.com/virtkit/virtkit/tree/main";

/** The page of a Markdown file in the site. @param {string} file relative to the repository */
export function pageOf(file) {
  if (file === "README.md") return "index.html";
  return `documents/${file.replace(/\.md$/, "").replaceAll("/", "_")}.html`;
}

/**
 * TypeDoc only follows links to files. This points links to folders to the page of the folder's README, or to the
 * repository if the site has none.
 * @param {string} site
 * @param {readonly string[]} files the Markdown files in the site
 */
export function followFolders(site, files) {
  for (const file of ["README.md", ...files]) {
    const page = path.join(site, pageOf(file));
    if (!existsSync(page)) continue;
    const html = readFileSync(page, "utf8");
    const followed = html.replaceAll(
      /href="(?!https?:|#|mailto:)([^"#]+)([^"]*)"/g,
      (link, target, anchor) => {
        if (existsSync(path.join(path.dirname(page), target))) return link;
        const meant = path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
        const readme = pageOf(`${meant.replace(/\/$/, "")}/README.md`);
        if (!existsSync(path.join(site, readme))) return `href="${repository}/${meant}${anchor}"`;
        return `href="${path.posix.relative(path.posix.dirname(pageOf(file)), readme)}${anchor}"`;
      },
    );
    if (followed !== html) writeFileSync(page, followed);
  }
}
