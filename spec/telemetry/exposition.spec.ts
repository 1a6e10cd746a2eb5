import { expect } from 'chai';
import { exposition, type SeriesFamily } from '#lib/telemetry/exposition.ts';

interface Row {
  readonly namespace: string;
  readonly values: readonly number[];
}

const ROWS: readonly Row[] = [
  { namespace: 'shop', values: [1, 2, 3] },
  { namespace: 'bank', values: [4] },
  { namespace: 'shop', values: [5] },
];

const family = (name: string): SeriesFamily<Row> => ({
  ...{ name, help: 'Help.', type: 'gauge' },
  samples: ({ namespace, values }) => values.map((value) => ({ labels: { namespace }, value })),
});

describe('exposition', () => {
  it('returns a slice for each row and each line, so that no number of rows is one block', () => {
    let evaluated = 0;
    function* rows(): Iterable<Row> {
      for (let index = 0; index < 1000; index++) {
        evaluated++;
        yield { namespace: 'shop', values: [] };
      }
    }
    const slices = exposition([family('empty')], rows)
      .slices()
      [Symbol.iterator]();
    slices.next();
    expect(evaluated).to.equal(1);
    expect([...{ [Symbol.iterator]: () => slices }].length).to.be.above(1999);
    const written = [...exposition([family('a')], () => ROWS).slices()].filter((slice) => slice !== '');
    expect(written).to.deep.equal([
      '# HELP a Help.\n# TYPE a gauge\n',
      ...[1, 2, 3].map((value) => `a{namespace="shop"} ${value}\n`),
      'a{namespace="bank"} 4\n',
      'a{namespace="shop"} 5\n',
    ]);
  });

  it('omits series of a tenant beyond its limit, and names the tenant', () => {
    const lineBytes = 'a{namespace="shop"} 1\n'.length;
    const limit = {
      ...{ tenantOf: ({ namespace }: Row) => namespace, omittedName: 'omitted' },
      maxBytes: 2 * lineBytes,
    };
    const text = [...exposition([family('a'), family('b')], () => ROWS, limit).slices()].join('');
    expect(text.split('\n').filter((line) => !line.startsWith('#'))).to.deep.equal([
      'a{namespace="shop"} 1',
      'a{namespace="shop"} 2',
      'a{namespace="bank"} 4',
      'b{namespace="bank"} 4',
      'omitted{namespace="shop"} 1',
      '',
    ]);
  });

  it('shortens values of labels', () => {
    const long: SeriesFamily<string> = {
      ...{ name: 'a', help: 'Help.', type: 'gauge' },
      samples: (name) => [{ labels: { name }, value: 1 }],
    };
    const text = [...exposition([long], () => ['n'.repeat(256), 'n'.repeat(257)]).slices()].join('');
    expect(text)
      .to.contain(`{name="${'n'.repeat(256)}"} 1\n`)
      .and.to.contain(`{name="${'n'.repeat(255)}…"} 1\n`);
  });
});
