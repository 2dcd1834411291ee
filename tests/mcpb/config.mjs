// What a host starts, by the official library: placeholders of a manifest replaced by what a person filled in.
// Arguments: the folder of the packages, and as JSON {extensionPath, userConfig, systemDirs}.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [home, given] = process.argv.slice(2);
const { extensionPath, userConfig, systemDirs } = JSON.parse(given);
const library = join(home, "node_modules", "@anthropic-ai", "mcpb", "dist", "index.js");
const { getMcpConfigForManifest } = await import(pathToFileURL(library).href);
const manifest = JSON.parse(readFileSync(join(extensionPath, "manifest.json"), "utf8"));
const config = await getMcpConfigForManifest({ manifest, extensionPath, userConfig, systemDirs, pathSeparator: "/" });
console.log(JSON.stringify(config));
