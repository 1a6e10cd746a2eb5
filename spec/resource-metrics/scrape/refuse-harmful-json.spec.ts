import { expect } from 'chai';
import { ExcessiveAnswer } from '#lib/resource-metrics/scrape/excessive-answer.ts';
import { MAX_JSON_DEPTH, refuseHarmfulJson } from '#lib/resource-metrics/scrape/refuse-harmful-json.ts';

const MIB = 1024 * 1024;

/** The shortest that a kubelet could say of a container. */
const CONTAINER =
  '{"name":"a","startTime":"2026-11-21T09:12:18Z","cpu":{"time":"2026-11-21T09:12:34Z","usageNanoCores":0,' +
  '"usageCoreNanoSeconds":1},"memory":{"time":"2026-11-21T09:12:34Z","workingSetBytes":1}},';

/** The bound that a text goes past; `undefined` when it passes. */
function boundOf(text: string, heapBytes = 4096 * MIB): string | undefined {
  try {
    refuseHarmfulJson(text, heapBytes);
    return undefined;
  } catch (error) {
    if (error instanceof ExcessiveAnswer) return error.bound;
    throw error;
  }
}

/** A list of one string, in that many lists and objects by turns. */
function nested(levels: number, string: string): string {
  const isList = (level: number) => level === levels - 1 || level % 2 === 0;
  const all = [...Array(levels).keys()];
  const open = all.map((level) => (isList(level) ? '[' : '{"a":')).join('');
  const close = all.map((level) => (isList(level) ? ']' : '}')).toReversed();
  return `${open}${JSON.stringify(string)}${close.join('')}`;
}

describe('refuseHarmfulJson', () => {
  it('refuses what parsing would blow up', () => {
    for (const part of ['{},', '[],', '"a":0,', '1,', '"",', '{"a":1},']) {
      expect(boundOf(`[${part.repeat((2 * MIB) / part.length)}]`), part).to.equal('parts');
    }
  });

  it('refuses what is nested too deeply, by a single level', () => {
    const long = 'x'.repeat(MIB);
    expect(boundOf(nested(MAX_JSON_DEPTH, long))).to.equal(undefined);
    expect(boundOf(nested(MAX_JSON_DEPTH + 1, long))).to.equal('depth');
    expect(boundOf('['.repeat(2 * MIB))).to.equal('depth');
    expect(boundOf('{"a":'.repeat(MIB))).to.equal('depth');
  });

  it('takes what strings say for nothing', () => {
    for (const string of ['[{,'.repeat(MIB), '\\"['.repeat(MIB), `${'\\'.repeat(MIB)}"[[`]) {
      expect(boundOf(nested(2, string))).to.equal(undefined);
    }
  });

  it('leaves it to the parser to refuse a string that does not end', () => {
    expect(boundOf(`["${'['.repeat(MIB)}`)).to.equal(undefined);
    expect(boundOf(`["${'\\"'.repeat(MIB)}`)).to.equal(undefined);
  });

  it('lets summaries pass, of whatever size and with the shortest names', () => {
    expect(boundOf(`[${CONTAINER.repeat((2 * MIB) / CONTAINER.length)}]`)).to.equal(undefined);
  });

  it('refuses a summary that may not fit into half of the heap', () => {
    const text = `[${CONTAINER.repeat(10_000)}]`; // 110,000 values of up to 128 bytes
    expect(boundOf(text, 32 * MIB)).to.equal(undefined);
    expect(boundOf(text, 16 * MIB)).to.equal('parts');
  });

  it('lets what is short pass unseen', () => {
    expect(boundOf('['.repeat(64 * 1024))).to.equal(undefined);
  });
});
