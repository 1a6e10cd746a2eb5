import { expect } from 'chai';
import fc from 'fast-check';
import { SampleReader } from '#lib/resource-metrics/scrape/decoding/sample-reader.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';

/** Reads one line; `undefined` if it is invalid. */
function read(line: string) {
  const reader = new SampleReader(Buffer.from(line));
  if (!reader.nextLine()) return undefined;
  const name = reader.name();
  const labels = new Map<string, string>();
  const isRead =
    name !== undefined &&
    reader.labels((label, value) => labels.set(reader.text(label), reader.text(value))) !== undefined;
  const rest = isRead ? reader.rest() : undefined;
  return rest && { name, labels: Object.fromEntries(labels), ...rest };
}

/** Reads the names of all samples. */
function namesIn(text: string): (string | undefined)[] {
  const reader = new SampleReader(Buffer.from(text));
  const names: (string | undefined)[] = [];
  while (reader.nextLine()) names.push(reader.name());
  return names;
}

describe('SampleReader', () => {
  it('reads name, labels, value and timestamp', () => {
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

  it('accepts labels in any order, white space and a trailing comma', () => {
    expect(read('a{ pod = "p" , container="c", } 1')?.labels).to.deep.equal({ pod: 'p', container: 'c' });
  });

  it('treats a label named `__proto__` as data', () => {
    expect(Object.entries(read('a{__proto__="x"} 1')?.labels ?? {})).to.deep.equal([['__proto__', 'x']]);
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
    'a 1-2',
    '1a 1',
    '{} 1',
    '<html>',
    'a{b="c"}1',
  ]) {
    it(`rejects ${JSON.stringify(line)}`, () => expect(read(line)).to.equal(undefined));
  }

  it('retains unknown escapes', () => {
    expect(read('x{a="\\t\\\\n"} 1 2')?.labels).to.deep.equal({ a: '\\t\\n' });
  });

  it('rejects a label that is too long before resolving escapes', () => {
    expect(read(`x{a="${'b'.repeat(1024)}"} 1 2`)?.labels).to.deep.equal({ a: 'b'.repeat(1024) });
    expect(read(`x{a="${'b'.repeat(1025)}"} 1 2`)).to.equal(undefined);
  });

  it('resolves escapes of every label value', () => {
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

  it('skips comments and blank lines', () => {
    expect(namesIn('# a\n\n \t\r\nb 1\nb{} 2\nbc 3\n\n# d\ne')).to.deep.equal(['b', 'b', 'bc', 'e']);
    expect(namesIn('')).to.deep.equal([]);
    expect(namesIn('#')).to.deep.equal([]);
  });

  it('rejects too many lines, including comments and blank ones', () => {
    expect(namesIn('\n'.repeat(999_999))).to.deep.equal([]);
    for (const text of ['\n'.repeat(1_000_000), '#\n'.repeat(1_000_001)]) {
      expect(() => namesIn(text))
        .to.throw(ExcessiveResponse, /^the response has more than 1000000 lines$/)
        .with.property('bound', 'parts');
    }
  });

  it('skips only the names of the given container', () => {
    const names = (text: string) => {
      const reader = new SampleReader(Buffer.from(`a${text}`));
      reader.nextLine();
      reader.name();
      const isSkipped = reader.skipNames('c', { namespace: 'n', name: 'p' });
      return [isSkipped, reader.rest()?.value];
    };
    expect(names('{container="c",namespace="n",pod="p"} 1 2')).to.deep.equal([true, 1]);
    for (const labels of [
      '{container="c",namespace="n",pod="pp"}',
      '{container="c",namespace="n",pod="p",}',
      '{container="",namespace="n",pod="p"}',
      '{container="c",namespace="n",pod="p',
      '',
    ])
      expect(names(`${labels} 1 2`)[0], labels).to.equal(false);
  });

  it('continues after a truncated line', () => {
    const line = 'a{b="c\\"",d="e"} 1.5 2';
    for (let length = 1; length <= line.length; length++) {
      const reader = new SampleReader(Buffer.from(`${line.slice(0, length)}\nx 7`));
      reader.nextLine();
      reader.name();
      reader.labels(() => {});
      reader.rest();
      expect(reader.nextLine() && reader.name()).to.equal('x');
      expect(reader.rest()?.value).to.equal(7);
      expect(reader.lines).to.equal(2);
    }
  });
});
