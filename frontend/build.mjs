/** Builds the pages' scripts and styles into the package (or, with --out DIR, elsewhere). */

import { build } from "esbuild";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const given = process.argv.indexOf("--out");
const package_ = given > 0 ? process.argv[given + 1] : join(here, "..", "src", "rubricate");
const common = { bundle: true, absWorkingDir: here, charset: "ascii", legalComments: "none", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const entryPoints = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".ts")).map((name) => join("tests", name));
  await build({ ...common, entryPoints, outdir: "built-tests", format: "esm", platform: "node" });
} else {
  const banner = { js: "/* Built from frontend/ by `npm run build`; do not edit. */", css: "/* Built from frontend/. */" };
  const pages = { ...common, banner, minify: true, target: ["chrome120", "firefox121", "safari17.2"], format: "iife" };
  const reports = { annotate: "src/page.ts", "annotate-style": "src/annotate.css", report: "src/report.ts", viewer: "src/viewer/main.ts" };
  await build({ ...pages, entryPoints: reports, outdir: join(package_, "reports", "built") });
  const names = ["annotate.ts", "curate.ts", "review.ts", "dashboard.ts", "keymap.ts", "style.css"];
  await build({ ...pages, format: "esm", entryPoints: names.map((name) => `src/workbench/${name}`),
    outdir: join(package_, "web", "static") });
}
