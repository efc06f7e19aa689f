// Opens reports in headless Chromium over its debugging pipe and looks: errors, requests, time to load, width, names, headings,
// contrast, sorting, filtering; without a package. `node scripts/report_browser.mjs [--shots DIR] REPORT.html...`
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const LOADED = 2000; // milliseconds

const given = process.argv.slice(2);
const at = given.indexOf("--shots");
const shots = at < 0 ? null : given.splice(at, 2)[1];
if (shots) mkdirSync(shots, { recursive: true });

const profile = mkdtempSync(join(tmpdir(), "report-browser-"));
const chromium = spawn(
  process.env.CHROMIUM ?? "chromium",
  [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank",
  ],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);

let next = 0;
const waiting = new Map();
let heard = [];
let buffer = "";
chromium.stdio[4].setEncoding("utf8").on("data", (chunk) => {
  const parts = (buffer + chunk).split("\0");
  buffer = parts.pop();
  for (const part of parts) {
    const message = JSON.parse(part);
    if (message.id) {
      const { done, failed } = waiting.get(message.id);
      waiting.delete(message.id);
      message.error ? failed(new Error(message.error.message)) : done(message.result);
    } else {
      heard.push(message);
    }
  }
});
const call = (method, params = {}, sessionId) =>
  new Promise((done, failed) => {
    waiting.set(++next, { done, failed });
    chromium.stdio[3].write(JSON.stringify({ id: next, method, params, sessionId }) + "\0");
  });

// Runs in the page.
const look = () => {
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const levels = [...document.querySelectorAll("h1,h2,h3,h4")].map((element) => Number(element.tagName[1]));
  const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => ((value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let it = element; it; it = it.parentElement) {
      const color = parse(getComputedStyle(it).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const faint = new Map();
  const pass = (front, back, name) => {
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.set(name, Math.round(ratio * 100) / 100);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode() && texts < 20000) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script,style,title,desc,.skip")) continue;
    texts += 1;
    const style = getComputedStyle(element);
    const inside = element.closest("svg");
    const name = `${element.tagName}.${element.getAttribute("class") ?? ""}`;
    if (!inside) {
      pass(parse(style.color), ground(element), name);
    } else {
      const part = /\bq(\d)/.exec(element.getAttribute("class") ?? "");
      const bar = part && element.parentElement.querySelector(".p" + part[1]);
      pass(parse(style.fill), bar ? parse(getComputedStyle(bar).fill) : ground(inside), name);
    }
  }
  const nameless = [...document.querySelectorAll("svg[role=img]")].filter(
    (chart) => !chart.querySelector("title") || !chart.querySelector("desc")?.textContent,
  ).length;
  const loose = [...document.querySelectorAll("input,button")].filter(
    (it) => !(it.labels?.length || it.textContent.trim()),
  ).length;
  const dead = [...document.querySelectorAll("a[href^='#']")].filter((a) => !document.querySelector(a.getAttribute("href"))).length;
  return {
    twice: ids.filter((id, place) => ids.indexOf(id) !== place),
    jumps: levels.filter((level, place) => place && level > levels[place - 1] + 1).length,
    first: levels[0],
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    faint: [...faint],
    nameless,
    loose,
    dead,
    tables: document.querySelectorAll("table").length,
    charts: document.querySelectorAll("svg[role=img]").length,
  };
};

// Runs in the page: the first table by its second column, up and down, and a filter.
const use = () => {
  const wrong = [];
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const head = table.tHead.rows[0].cells[1];
    if (!head?.querySelector("button")) {
      if (table.tBodies[0].rows.length > 1) wrong.push("cannot be sorted: " + table.caption.textContent);
      continue;
    }
    const keys = () => [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.v ?? row.cells[1].textContent.trim());
    const before = keys().sort().join();
    head.querySelector("button").click();
    if (head.getAttribute("aria-sort") !== "ascending") wrong.push("not sorted: " + table.caption.textContent);
    const up = keys().filter((key) => key !== "" && !Number.isNaN(Number(key))).map(Number);
    if (up.some((key, place) => place && key < up[place - 1])) wrong.push("order: " + table.caption.textContent);
    head.querySelector("button").click();
    if (head.getAttribute("aria-sort") !== "descending") wrong.push("not reversed: " + table.caption.textContent);
    if (keys().sort().join() !== before) wrong.push("rows lost: " + table.caption.textContent);
  }
  for (const table of document.querySelectorAll("table[data-filter]")) {
    const input = table.closest(".scroll").previousElementSibling.querySelector("input");
    input.value = "no row holds this";
    input.dispatchEvent(new Event("input"));
    if ([...table.tBodies[0].rows].some((row) => !row.hidden)) wrong.push("filter");
    input.value = "";
    input.dispatchEvent(new Event("input"));
    if ([...table.tBodies[0].rows].some((row) => row.hidden)) wrong.push("filter stays");
  }
  return wrong;
};

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

async function open(file, { width, dark, script, media }) {
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  const page = (method, params) => call(method, params, sessionId);
  heard = [];
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await page(domain + ".enable");
  await page("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 });
  await page("Emulation.setEmulatedMedia", { media, features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  if (!script) await page("Emulation.setScriptExecutionDisabled", { value: true });
  const url = pathToFileURL(resolve(file)).href;
  const start = performance.now();
  await page("Page.navigate", { url });
  while (!heard.some((it) => it.sessionId === sessionId && it.method === "Page.loadEventFired")) {
    await wait(5);
    if (performance.now() - start > 30000) throw new Error("does not load");
  }
  const run = async (body) => {
    const { result, exceptionDetails } = await page("Runtime.evaluate", { expression: `(${body})()`, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  if (script) await run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const took = Math.round(performance.now() - start);
  await wait(100);
  const mine = heard.filter((it) => it.sessionId === sessionId);
  const trouble = mine
    .filter((it) => ["Runtime.exceptionThrown", "Log.entryAdded"].includes(it.method)
      || (it.method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(it.params.type)))
    .map((it) => it.params.entry?.text ?? it.params.exceptionDetails?.text ?? "console");
  const requests = mine
    .filter((it) => it.method === "Network.requestWillBeSent")
    .map((it) => it.params.request.url)
    .filter((asked) => asked.split("#")[0] !== url && !asked.startsWith("data:"));
  return { page, run, took, trouble, requests, close: () => call("Target.closeTarget", { targetId }) };
}

// In slices, from the top down.
async function shoot(page, path) {
  const { cssContentSize: size } = await page("Page.getLayoutMetrics");
  for (let y = 0, n = 1; y < Math.min(size.height, 16000); y += 1400, n += 1) {
    const clip = { x: 0, y, width: size.width, height: Math.min(1400, size.height - y), scale: 1 };
    const { data } = await page("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
    writeFileSync(`${path}-${n}.png`, Buffer.from(data, "base64"));
  }
}

let failed = 0;
const check = (holds, text) => {
  if (!holds) {
    failed += 1;
    console.log("  FAILED " + text);
  }
};

try {
  for (const file of given) {
    for (const [name, width, dark, script, media] of [
      ["light", 1280, false, true],
      ["dark", 1280, true, true],
      ["phone", 390, false, true],
      ["phone-dark", 390, true, true],
      ["plain", 1280, false, false],
      ["print", 794, false, false, "print"],
    ]) {
      const it = await open(file, { width, dark, script, media: media ?? "screen" });
      const seen = await it.run(look);
      console.log(`${basename(file)} ${name}: ${it.took} ms, ${seen.charts} charts, ${seen.tables} tables`);
      check(it.took < LOADED, `takes ${it.took} ms`);
      check(!it.trouble.length, "console: " + it.trouble.join("; "));
      check(!it.requests.length, "requests: " + it.requests.join(" "));
      check(!seen.twice.length, "ids twice: " + seen.twice.join(" "));
      check(seen.first === 1 && !seen.jumps, "headings out of order");
      check(seen.wide <= 0, `wider than the window by ${seen.wide}`);
      check(!seen.faint.length, "contrast: " + JSON.stringify(seen.faint));
      check(!seen.nameless && !seen.loose && !seen.dead, `nameless ${seen.nameless}, unlabelled ${seen.loose}, dead links ${seen.dead}`);
      if (shots) await shoot(it.page, join(shots, `${basename(file, ".html")}-${name}`));
      if (script) {
        const wrong = await it.run(use);
        check(!wrong.length, wrong.join("; "));
      }
      if (shots && name === "light") {
        const { data } = await it.page("Page.printToPDF", { printBackground: false });
        writeFileSync(join(shots, `${basename(file, ".html")}.pdf`), Buffer.from(data, "base64"));
      }
      await it.close();
    }
  }
} catch (error) {
  failed += 1;
  console.log("  FAILED " + error.stack);
} finally {
  chromium.kill();
  await new Promise((done) => chromium.once("exit", done));
  // Its helpers may outlive the browser by a moment and go on writing.
  for (let left = 50; left > 0; left -= 1) {
    try {
      rmSync(profile, { recursive: true, force: true });
      break;
    } catch (error) {
      if (left === 1) console.error(`${profile} is left behind: ${error.code}`);
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}
process.exitCode = failed ? 1 : 0;
