import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { FOREIGN_READERS, NO_READERS } from './foreign-text/all-readers.ts';
import type { ForeignReader } from './foreign-text/foreign-reader.ts';
import { growthOf } from './foreign-text/growth.ts';

/** Names of exported readers; code that reads text under other names is listed in the table by hand. */
const READER = /^export (?:async )?(?:function\*?|const) (?:parse|read|decode|percentDecode|takes)(?![a-z])/m;

describe('foreign text', function () {
  this.timeout(600_000); // in CPU time, this takes seconds; a loaded machine provides little

  for (const { name, bound, shapes, read, parts = 64 } of FOREIGN_READERS as readonly ForeignReader[]) {
    it(`takes linear time as ${name}, at its worst and up to its bound`, async () => {
      for (const [what, shape] of Object.entries(shapes)) {
        const [short, long] = [shape(bound.length / parts), shape(bound.length)];
        expect(long.length, what).to.be.within(bound.length / 2, bound.length * 1.1);
        const { isLinear, costMs, ratio } = await growthOf(read, { short, long, parts });
        expect(isLinear, `${what}: ${costMs} ms, ${ratio} times as much as in ${parts} parts`).to.equal(true);
      }
    });
  }

  it('is read only by readers in the table, or with a reason for an exception', () => {
    const sources = globSync('lib/**/*.ts'); // the simulator reads only its own programs
    const readers = sources.filter((path) => READER.test(readFileSync(path, 'utf8')));
    const named = new Set([...FOREIGN_READERS.flatMap(({ files }) => files), ...Object.keys(NO_READERS)]);
    expect(readers.filter((path) => !named.has(basename(path)))).to.deep.equal([]);
    const present = new Set(sources.map((path) => basename(path)));
    expect([...named].filter((file) => !present.has(file))).to.deep.equal([]);
  });
});

describe('growthOf', () => {
  it('distinguishes quadratic time from linear time', async () => {
    const texts = { short: ' '.repeat(125), long: ' '.repeat(8_000), parts: 64 };
    const trimmed = (text: string) => `${text}x`.replace(/\s+$/, '');
    expect(await growthOf(trimmed, texts)).to.include({ isLinear: false });
    const long = { short: ' '.repeat(12_500), long: ' '.repeat(800_000), parts: 64 };
    expect(await growthOf((text) => text.replaceAll(' ', '--'), long)).to.include({ isLinear: true });
  });
});
