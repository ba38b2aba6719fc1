// Builds sitemaps with npm's `sitemap` as in its documentation, plus a Set for the duplicates:
//   node npm-sitemap.mjs FOLDER_WITH_NODE_MODULES urls.txt OUT LEVEL as-documented|gathered
// Validation and unused namespaces are off, which is its fastest setting. `gathered` also collects 64 KiB before each
// write to gzip; the documented way writes every tag separately, which takes most of the time.

import { createReadStream, createWriteStream } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const [modules, input, out, level, writes] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'from-here.js'));
const { ErrorLevel, SitemapAndIndexStream, SitemapStream } = require('sitemap');

async function* distinctLines() {
  const seen = new Set();
  for await (const line of createInterface({ input: createReadStream(input, { highWaterMark: 1 << 20 }) })) {
    if (line !== '' && !seen.has(line)) {
      seen.add(line);
      yield line;
    }
  }
}

function gather() {
  let parts = [];
  let length = 0;
  const flushed = () => {
    const bytes = Buffer.concat(parts);
    parts = [];
    length = 0;
    return bytes;
  };
  return new Transform({
    transform(part, encoding, done) {
      parts.push(part);
      length += part.length;
      if (length < 1 << 16) done();
      else done(null, flushed());
    },
    flush(done) {
      done(null, flushed());
    },
  });
}

const gzip = () => createGzip({ level: Number(level) });
const sitemaps = new SitemapAndIndexStream({
  limit: 50000,
  level: ErrorLevel.SILENT,
  getSitemapStream: (number) => {
    const name = `sitemap-${number}.xml.gz`;
    const sitemap = new SitemapStream({
      level: ErrorLevel.SILENT,
      xmlns: { news: false, xhtml: false, image: false, video: false },
    });
    const xml = writes === 'gathered' ? sitemap.pipe(gather()) : sitemap;
    const file = xml.pipe(gzip()).pipe(createWriteStream(join(out, name)));
    return [`https://www.example.com/${name}`, sitemap, file];
  },
});
await pipeline(Readable.from(distinctLines()), sitemaps, gzip(), createWriteStream(join(out, 'sitemap-index.xml.gz')));
