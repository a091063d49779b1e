// Bundle the pages into the package: each page is one script, readable, the same on every machine.
//
//   node build.mjs            writes src/teamworld/viewer/static/*.js
//   node build.mjs --check    fails if they are not what the sources give
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const STATIC = new URL("../src/teamworld/viewer/static/", import.meta.url);
const PAGES = ["replay", "pair", "overview", "play"];

async function bundle(page) {
  const { outputFiles } = await build({
    entryPoints: [`src/${page}/main.ts`],
    absWorkingDir: import.meta.dirname,
    bundle: true,
    write: false,
    format: "iife",
    globalName: "teamworld",
    target: "es2022",
    charset: "utf8",
    banner: { js: `// Built from frontend/src/${page} by "make pages"; change the sources and build again.` },
  });
  return outputFiles[0].text;
}

async function isCurrent(file, text) {
  const built = await readFile(file, "utf8").catch(() => "");
  return built.replaceAll("\r\n", "\n") === text;
}

for (const page of PAGES) {
  const [file, text] = [new URL(`${page}.js`, STATIC), await bundle(page)];
  if (!process.argv.includes("--check")) await writeFile(file, text);
  else if (!(await isCurrent(file, text))) {
    console.error(`${page}.js is not what its sources give: run "make pages" and commit the result`);
    process.exitCode = 1;
  }
}
