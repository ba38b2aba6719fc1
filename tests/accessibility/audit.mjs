// Audits HTML pages in Chromium: `node audit.mjs AXE PAGE...`, with AXE the path of axe.min.js.
//
// Prints a JSON object for each page, with its `problems`, `headings`, and the names of its `tables` and `images`. A problem is
// - a violation of an axe rule, which include the contrast of colours;
// - a table, image or figure without an accessible name;
// - a heading that skips a level, or a number of first-level headings other than one;
// - a word on the console, or a request other than the page itself;
// - content that is wider than the window.
// Each page is audited in a wide light window and in a narrow dark one, and with its folded parts open.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { withTab } from './chromium.mjs';

const VIEWS = [
  { name: 'wide and light', width: 1200, scheme: 'light' },
  { name: 'narrow and dark', width: 360, scheme: 'dark' },
];

const [axeFile, ...pages] = process.argv.slice(2);
const axe = readFileSync(axeFile, 'utf8');

await withTab(async (call, events) => {
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Accessibility']) await call(`${domain}.enable`);
  for (const page of pages) {
    const result = { problems: [] };
    for (const view of VIEWS) {
      const { problems, ...seen } = await audit(call, events, pathToFileURL(page).href, view);
      result.problems.push(...problems.map((problem) => `${view.name}: ${problem}`));
      Object.assign(result, seen);
    }
    console.log(JSON.stringify(result));
  }
});

async function audit(call, events, url, view) {
  await call('Emulation.setDeviceMetricsOverride', { width: view.width, height: 900, deviceScaleFactor: 1, mobile: false });
  await call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: view.scheme }] });
  await load(call, events, url);
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
  const overflow = await evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const problems = overflow > 0 ? [`the page is ${overflow} pixels wider than the window`] : [];
  const tree = structure(await call('Accessibility.getFullAXTree'));
  problems.push(...tree.problems, ...eventProblems(events, url));
  await evaluate(`${axe}; 0`);
  const { violations } = await evaluate(`axe.run({ preload: false, resultTypes: ['violations'] })`);
  for (const { id, help, nodes } of violations) {
    problems.push(...nodes.slice(0, 3).map((node) => `axe ${id}: ${help}: ${node.html} ${node.failureSummary}`));
  }
  return { ...tree, problems };
}

async function load(call, events, url) {
  events.length = 0;
  const { errorText } = await call('Page.navigate', { url });
  if (errorText) throw new Error(`${url}: ${errorText}`);
  while (!events.some(({ method }) => method === 'Page.loadEventFired')) await new Promise((resolve) => setTimeout(resolve, 10));
}

function eventProblems(events, url) {
  const problems = [];
  for (const { method, params } of events) {
    if (method === 'Network.requestWillBeSent' && params.request.url !== url) problems.push(`requests ${params.request.url}`);
    if (method === 'Log.entryAdded') problems.push(`console: ${params.entry.text}`);
    if (method === 'Runtime.consoleAPICalled' || method === 'Runtime.exceptionThrown') problems.push(`console: ${JSON.stringify(params)}`);
  }
  return problems;
}

function structure({ nodes }) {
  const seen = { problems: [], headings: [], tables: [], images: [] };
  let level = 0;
  for (const { ignored, role, name, properties } of nodes) {
    if (ignored) continue;
    const words = name?.value?.trim() ?? '';
    if (['table', 'image', 'img', 'figure', 'heading'].includes(role.value) && words === '') {
      seen.problems.push(`a ${role.value} has no accessible name`);
    }
    if (role.value === 'table') seen.tables.push(words);
    if (['image', 'img'].includes(role.value)) seen.images.push(words);
    if (role.value !== 'heading') continue;
    const next = properties.find((property) => property.name === 'level').value.value;
    if (next > level + 1) seen.problems.push(`heading ${words} of level ${next} follows level ${level}`);
    level = next;
    seen.headings.push({ level, words });
  }
  const first = seen.headings.filter((heading) => heading.level === 1).length;
  if (first !== 1) seen.problems.push(`${first} headings of level 1`);
  return seen;
}
