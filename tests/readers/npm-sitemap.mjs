// Reads a set with npm's `sitemap`: `node npm-sitemap.mjs FOLDER_WITH_NODE_MODULES INDEX_URL...` fetches the index files
// and their sitemaps, and prints a JSON object for each URL. Any parser error ends the program.

import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

const [modules, ...indexUrls] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'from-here.js'));
const { ErrorLevel, XMLToSitemapIndexStream, XMLToSitemapItemStream } = require('sitemap');

async function read(url, parser) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const unpack = url.endsWith('.gz') ? [createGunzip()] : [];
  const items = [];
  const gather = async (parsed) => {
    for await (const item of parsed) items.push(item);
  };
  await pipeline(Readable.fromWeb(response.body), ...unpack, parser, gather);
  return items;
}

for (const indexUrl of indexUrls) {
  for (const sitemap of await read(indexUrl, new XMLToSitemapIndexStream({ level: ErrorLevel.THROW }))) {
    for (const item of await read(sitemap.url, new XMLToSitemapItemStream({ level: ErrorLevel.THROW }))) {
      const { url, lastmod = null, changefreq = null, priority = null } = item;
      console.log(JSON.stringify({ loc: url, lastmod, changefreq, priority }));
    }
  }
}
