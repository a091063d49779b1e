// Bundle the pages and the drawers of worlds into the package: each is one script, readable, the same on every machine.
//
//   node build.mjs            writes src/teamworld/viewer/static/*.js and worlds/*.js there
//   node build.mjs --check    fails if they are not what the sources give
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const STATIC = new URL("../src/teamworld/viewer/static/", import.meta.url);
const PAGES = ["replay", "pair", "overview", "play"];
const SHARED = "common"; // by the drawers

async function bundle(story, globalName) {
  const { outputFiles } = await build({
    entryPoints: [`src/${story}/main.ts`],
    absWorkingDir: import.meta.dirname,
    bundle: true,
    write: false,
    format: "iife",
    globalName,
    target: "es2022",
    charset: "utf8",
    banner: { js: `// Built from frontend/src/${story} by "make pages"; change the sources and build again.` },
  });
  return outputFiles[0].text;
}

const folders = await readdir(new URL("src/worlds/", import.meta.url));
const worlds = folders.filter((name) => name !== SHARED).sort();
const scripts = [
  ...PAGES.map((page) => ({ file: `${page}.js`, story: page, globalName: "teamworld" })),
  ...worlds.map((world) => ({ file: `worlds/${world}.js`, story: `worlds/${world}` })),
];
const isCheck = process.argv.includes("--check");

function complain(text) {
  console.error(`${text}: run "make pages" and commit the result`);
  process.exitCode = 1;
}

for (const { file, story, globalName } of scripts) {
  const [path, text] = [new URL(file, STATIC), await bundle(story, globalName)];
  if (!isCheck) await writeFile(path, text);
  else {
    const built = await readFile(path, "utf8").catch(() => "");
    if (built.replaceAll("\r\n", "\n") !== text) complain(`${file} is not what its sources give`);
  }
}

for (const name of await readdir(new URL("worlds/", STATIC))) {
  if (worlds.includes(name.replace(/\.js$/, ""))) continue;
  if (isCheck) complain(`worlds/${name} has no sources`);
  else await rm(new URL(`worlds/${name}`, STATIC));
}
