// A headless Chromium, controlled over a pipe with its DevTools protocol: one JSON object and a NUL for each message.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/// Runs `work` with a function that calls a method of one tab, and a list of all events of that tab, which grows.
export async function withTab(work) {
  const profile = await mkdtemp(join(tmpdir(), 'sitemill-chromium-'));
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', `--user-data-dir=${profile}`];
  const browser = spawn('chromium', options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => browser.once('close', resolve));
  try {
    const { call, events } = protocol(browser);
    const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
    return await work((method, params) => call(method, params, sessionId), events);
  } finally {
    browser.kill();
    await ended;
    // Processes of the browser may still write there for a moment. The synchronous call would not try again.
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

function protocol(browser) {
  const [, , , to, from] = browser.stdio;
  const waiting = new Map();
  const events = [];
  let [last, rest, failure] = [0, '', null];
  const fail = (error) => {
    failure = error;
    waiting.forEach(({ reject }) => reject(error));
  };
  browser.once('error', fail);
  browser.once('close', () => fail(new Error('chromium ended')));
  to.on('error', fail);
  from.setEncoding('utf8').on('data', (text) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop();
    for (const { id, result, error, ...event } of messages.map((message) => JSON.parse(message))) {
      if (id === undefined) {
        events.push(event);
        continue;
      }
      const { resolve, reject, method } = waiting.get(id);
      waiting.delete(id);
      error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result);
    }
  });
  const call = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      last += 1;
      waiting.set(last, { resolve, reject, method });
      to.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
  return { call, events };
}
