import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { copyString, createStringInterner, Interner } from '#lib/cache/interner.ts';

const interner = () => new Interner<{ key: string }>({ capacity: 2, maxKeyLength: 10 }, (key) => ({ key }));

describe('Interner', () => {
  it('returns the first of equal values', () => {
    const values = interner();
    const first = values.intern('a');
    expect(first).to.deep.equal({ key: 'a' });
    expect(values.intern('a')).to.equal(first);
    expect(values.intern('b')).not.to.equal(first);
  });

  it('retains used keys, and evicts unused ones', () => {
    const values = interner();
    const [retained, lost] = [values.intern('kept'), values.intern('lost')];
    for (const key of ['b', 'c', 'd', 'e']) {
      values.intern(key);
      expect(values.intern('kept')).to.equal(retained);
    }
    expect(values.intern('lost')).not.to.equal(lost);
  });

  it('does not retain too long keys', () => {
    const values = interner();
    expect(values.intern('x'.repeat(10))).to.equal(values.intern('x'.repeat(10)));
    expect(values.intern('x'.repeat(11))).not.to.equal(values.intern('x'.repeat(11)));
  });

  it('does not retain the long strings that its keys are slices of', () => {
    const strings = createStringInterner({ capacity: 1000, maxKeyLength: 100 });
    const retainedBytes = bytesRetainedBy(() =>
      Array.from({ length: 100 }, (_, index) => {
        const long = Buffer.alloc(200_000, `a text of which a part is kept: ${index} `).toString();
        return strings.intern(long.slice(1000 + index, 1060 + index));
      }),
    );
    expect(retainedBytes).to.be.below(2_000_000); // a tenth of the texts
  });
});

describe('copyString', () => {
  it('equals the text, in any script', () => {
    for (const text of ['', 'a', 'größe', '漢字', '😀', '\ud800 alone', '\udc00'])
      expect(copyString(text)).to.equal(text);
  });
});

/** Bytes of the heap that the result of a function and its retained objects use. */
function bytesRetainedBy(make: () => unknown): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  const acquired = make();
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  expect(acquired).not.to.equal(undefined); // prevents garbage collection before this line
  return bytes;
}
