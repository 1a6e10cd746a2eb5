import { expect } from 'chai';
import fc from 'fast-check';
import { parseSample } from '#lib/resource-metrics/scrape/exposition-sample.ts';

const read = (line: string) => {
  const sample = parseSample(line);
  return sample && { ...sample, labels: Object.fromEntries(sample.labels) };
};

describe('parseSample', () => {
  it('reads a name, labels, a value and a timestamp', () => {
    expect(
      read(
        'container_cpu_usage_seconds_total{container="burn",namespace="default",pod="p"} 5.289110879 1795251662066',
      ),
    ).to.deep.equal({
      name: 'container_cpu_usage_seconds_total',
      labels: { container: 'burn', namespace: 'default', pod: 'p' },
      value: 5.289110879,
      timestampMs: 1_795_251_662_066,
    });
  });

  it('reads a line without labels or timestamp, and with a carriage return', () => {
    expect(read('resource_scrape_error 0\r')).to.deep.equal({
      name: 'resource_scrape_error',
      labels: {},
      value: 0,
      timestampMs: undefined,
    });
    expect(read('a{} 1')?.labels).to.deep.equal({});
  });

  for (const [text, value] of [
    ['2.5440256e+07', 25_440_256],
    ['1E-3', 0.001],
    ['-1', -1],
    ['NaN', Number.NaN],
    ['+Inf', Number.POSITIVE_INFINITY],
    ['Inf', Number.POSITIVE_INFINITY],
    ['-Inf', Number.NEGATIVE_INFINITY],
  ] as const) {
    it(`reads the value ${text}`, () => expect(read(`a ${text}`)?.value).to.deep.equal(value));
  }

  it('takes labels in any order, with white space and a comma at the end', () => {
    expect(read('a{ pod = "p" , container="c", } 1')?.labels).to.deep.equal({ pod: 'p', container: 'c' });
  });

  it('keeps a label called `__proto__` as data', () => {
    expect(parseSample('a{__proto__="x"} 1')?.labels.get('__proto__')).to.equal('x');
  });

  for (const line of [
    '',
    'a',
    'a{b="c" 1',
    'a{b=c} 1',
    'a{b="c} 1',
    'a one',
    'a 0x10',
    'a 1 2 3',
    'a 1 2.5',
    '1a 1',
    '{} 1',
    '<html>',
    'a{b="c"}1',
  ]) {
    it(`refuses ${JSON.stringify(line)}`, () => expect(parseSample(line)).to.equal(undefined));
  }

  it('reads every label value that is escaped as the format demands', () => {
    const escaped = (value: string) =>
      value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', '}', ',', ' ', '=') }),
        (a, b) => {
          expect(read(`x{a="${escaped(a)}",b="${escaped(b)}"} 1 2`)?.labels).to.deep.equal({ a, b });
        },
      ),
    );
  });

  it('is not held up by a value of half a million digits', () => {
    const startMs = performance.now();
    expect(parseSample(`x ${'1'.repeat(500_000)}x`)).to.equal(undefined);
    expect(performance.now() - startMs).to.be.below(1_000); // it was minutes
  });
});
