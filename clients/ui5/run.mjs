// Runs a page of OpenUI5 in a headless browser against a gateway, and says what held.
//
// Usage: node run.mjs GATEWAY [v2|v4 …]     npm install first; CHROMIUM names another browser, UI5 another folder of packages
//
// The page, OpenUI5 and the services come from one origin, as behind a real web server: files from here, all else is passed
// on to the gateway. What it deliberately does not do: drive the page; the page tells its results by itself.

import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const SECONDS_MAX = 120;
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
};

const here = path.dirname(fileURLToPath(import.meta.url));
const ui5 = path.join(process.env.UI5 ?? path.join(here, "node_modules"), "@openui5", "sap.ui.core", "src");
const [gateway, ...versions] = process.argv.slice(2);
if (!gateway) {
  console.error("usage: node run.mjs GATEWAY [v2|v4 …]");
  process.exit(2);
}
if (!existsSync(ui5)) {
  console.error(`no OpenUI5 in ${ui5}: npm install`);
  process.exit(2);
}

/** Sends the file below `folder` that `name` says, and nothing from outside of it. */
function sendFile(folder, name, response) {
  const file = path.join(folder, path.normalize(`/${name}`));
  if (!existsSync(file)) {
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
  } else if (name.startsWith("/resources/")) sendFile(ui5, name.slice("/resources/".length), response);
  else if (name.startsWith("/page/")) sendFile(path.join(here, "page"), name.slice("/page/".length), response);
  else if (name === "/favicon.ico") response.writeHead(204).end();
  else pass(request, response);
});

/** The results of one version's page: `[{ name, error }]`. */
async function run(version, port) {
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
      `http://127.0.0.1:${port}/page/index.html?version=${version}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  );
  let log = "";
  browser.stderr.on("data", (piece) => (log += piece));
  const ended = new Promise((resolve) => browser.on("exit", resolve));
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the page said nothing in ${SECONDS_MAX} s:\n${log}`)),
      SECONDS_MAX * 1000,
    );
  });
  const gone = ended.then((code) => Promise.reject(new Error(`the browser ended with ${code}:\n${log}`)));
  try {
    return await Promise.race([results, late, gone]);
  } finally {
    clearTimeout(timer);
    gone.catch(() => {});
    process.kill(-browser.pid, "SIGKILL"); // its own group: the browser is many processes
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    if (process.env.TRACE)
      console.error(
        log
          .split("\n")
          .filter((line) => line.includes("CONSOLE"))
          .join("\n"),
      );
  }
}

await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
let passed = 0;
let failed = 0;
for (const version of versions.length ? versions : ["v4", "v2"]) {
  const started = Date.now();
  try {
    for (const { name, error } of await run(version, server.address().port)) {
      if (error) failed += 1;
      else passed += 1;
      console.log(`${error ? "FAILED" : "ok"} ${version}: ${name}${error ? `\n  ${error}` : ""}`);
    }
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${version}: ${error.message}`);
  }
  console.log(`${version}: ${Date.now() - started} ms`);
}
console.log(`${passed} passed, ${failed} failed`);
server.close();
server.closeAllConnections();
process.exitCode = failed || !passed ? 1 : 0;
