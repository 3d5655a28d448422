// Runs a page of OpenUI5 in a headless browser against a gateway, and says what held.
//
// Usage: node run.mjs GATEWAY [v4|v2|table …]     npm ci first; CHROMIUM names another browser, TRACE=1 shows what is passed on
//
// The page, OpenUI5 and the services come from one origin, as behind a real web server: files from here, all else is passed
// on to the gateway. What it deliberately does not do: drive the page; the page tells its results by itself.

import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const SECONDS_MAX = 240;
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
};

const here = path.dirname(fileURLToPath(import.meta.url));
const packages = path.join(here, "node_modules", "@openui5");
const [gateway, ...pages] = process.argv.slice(2);
if (!gateway) {
  console.error("usage: node run.mjs GATEWAY [v4|v2|table …]");
  process.exit(2);
}
if (!existsSync(packages)) {
  console.error(`no OpenUI5 in ${packages}: npm ci`);
  process.exit(2);
}
await fetch(gateway).catch((error) => {
  console.error(`no gateway at ${gateway}: ${error.cause ?? error}`);
  process.exit(2);
});
const libraries = readdirSync(packages).map((library) => path.join(packages, library, "src"));

/** Sends the file that `name` says below the first of the folders that has it, and nothing from outside of them. */
function sendFile(folders, name, response) {
  const candidates = folders.map((folder) => path.join(folder, path.normalize(`/${name}`)));
  const file = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  if (!file) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
    "cache-control": "no-store",
  });
  createReadStream(file).pipe(response);
}

/** Passes a request on as it is, but for the host; the answer comes back as it is. */
function pass(request, response) {
  const onward = http.request(
    new URL(request.url, gateway),
    { method: request.method, headers: { ...request.headers, host: new URL(gateway).host } },
    (answer) => {
      if (process.env.TRACE) console.error(`${request.method} ${request.url} ${answer.statusCode}`);
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    },
  );
  onward.on("error", (error) => response.writeHead(502).end(String(error)));
  request.pipe(onward);
}

let told;
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  if (name === "/results") {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      response.end();
      told?.(JSON.parse(text));
    });
  } else if (name.startsWith("/resources/")) sendFile(libraries, name.slice("/resources/".length), response);
  else if (name.startsWith("/page/")) sendFile([path.join(here, "page")], name.slice("/page/".length), response);
  else if (name === "/favicon.ico") response.writeHead(204).end();
  else pass(request, response);
});

/** The results of one page: `[{ name, error }]`. */
async function run(page, port) {
  const profile = mkdtempSync(path.join(tmpdir(), "tollgate-ui5-"));
  const results = new Promise((resolve) => (told = resolve));
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--enable-logging=stderr",
    "--v=0",
  ];
  const browser = spawn(
    process.env.CHROMIUM ?? "chromium",
    [
      ...flags,
      `--user-data-dir=${profile}`,
      "--remote-debugging-port=0",
      `http://127.0.0.1:${port}/page/index.html?page=${page}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  let log = "";
  browser.stderr.on("data", (piece) => (log += piece));
  const said = () => log.split("\n").filter((line) => line.includes("CONSOLE")).join("\n");
  const ended = new Promise((resolve) => {
    browser.on("exit", (code) => resolve(`the browser ended with ${code}:\n${log}`));
    browser.on("error", (error) => resolve(`no browser: ${error.message}`));
  });
  const gone = ended.then((reason) => Promise.reject(new Error(reason)));
  let timer;
  const late = new Promise((_, reject) => {
    const tooLate = () => reject(new Error(`the page said nothing in ${SECONDS_MAX} s:\n${said()}`));
    timer = setTimeout(tooLate, SECONDS_MAX * 1000);
  });
  try {
    return await Promise.race([results, late, gone]);
  } finally {
    clearTimeout(timer);
    gone.catch(() => {});
    if (browser.pid && browser.exitCode === null) process.kill(-browser.pid, "SIGKILL"); // its group: it is many processes
    await ended;
    // What of it still ends may still write.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    if (process.env.TRACE) console.error(said());
  }
}

await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
let passed = 0;
let failed = 0;
for (const page of pages.length ? pages : ["v4", "v2", "table"]) {
  const started = Date.now();
  try {
    for (const { name, error } of await run(page, server.address().port)) {
      if (error) failed += 1;
      else passed += 1;
      console.log(`${error ? "FAILED" : "ok"} ${page}: ${name}${error ? `\n  ${error}` : ""}`);
    }
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${page}: ${error.message}`);
  }
  console.log(`${page}: ${Date.now() - started} ms`);
}
console.log(`${passed} passed, ${failed} failed`);
server.close();
server.closeAllConnections();
process.exitCode = failed || !passed ? 1 : 0;
