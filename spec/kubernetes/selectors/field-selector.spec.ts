import { expect } from 'chai';
import fc from 'fast-check';
import { FieldSelector, parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

describe('parseFieldSelector', () => {
  const canonical: readonly [string, string][] = [
    ['', ''],
    [',', ''],
    ['==', ''],
    ['!=', ''],
    ['metadata.name=a', 'metadata.name=a'],
    ['metadata.name==a', 'metadata.name=a'],
    ['metadata.namespace!=b,metadata.name=a', 'metadata.name=a,metadata.namespace!=b'],
    ['metadata.name=', 'metadata.name='],
    ['metadata.name=a\\,b\\=c\\\\d', 'metadata.name=a\\,b\\=c\\\\d'],
  ];
  for (const [text, written] of canonical) {
    it(`reads ${JSON.stringify(text)} as ${JSON.stringify(written)}`, () =>
      expect(parseFieldSelector(text).toString()).to.equal(written));
  }

  const refused: readonly [string, string][] = [
    ['abc', "invalid selector: 'abc'; can't understand 'abc'"],
    ['z,abc=d', "invalid selector: 'z,abc=d'; can't understand 'z'"],
    [
      'status.phase=Running',
      '"status.phase" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['=x', '"" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    [
      ' metadata.name=x',
      '" metadata.name" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['metadata.name===a', 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=\\a', 'invalid field selector: invalid escape sequence: \\a'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${JSON.stringify(text)} as Kubernetes does`, () =>
      expect(() => parseFieldSelector(text))
        .to.throw(SelectorError)
        .with.property('message', message));
  }

  it('admits the given fields', () => {
    expect(parseFieldSelector('status.phase=Running', ['status.phase']).toString()).to.equal(
      'status.phase=Running',
    );
  });

  it('ends or throws its own error on any text', () => {
    const symbols = fc.constantFrom('metadata.name', 'a', ',', '=', '!', '\\', ' ');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(symbols).map((parts) => parts.join('')),
        ),
        (text) => {
          try {
            parseFieldSelector(text);
          } catch (error) {
            expect(error).to.be.instanceOf(SelectorError);
          }
        },
      ),
    );
  });
});

describe('FieldSelector', () => {
  const requirement = fc.record({
    field: fc.constantFrom('metadata.name', 'metadata.namespace'),
    operator: fc.constantFrom('=' as const, '!=' as const),
    value: fc.oneof(fc.constantFrom('', 'a', 'b'), fc.string()),
  });
  const fields = fc.record({
    'metadata.name': fc.constantFrom('a', 'b'),
    'metadata.namespace': fc.constantFrom('', 'b'),
  });

  it('means the same after it was written and read', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 3 }), fields, (requirements, fields) => {
        const selector = new FieldSelector(requirements);
        const naive = requirements.every(({ field, operator, value }) =>
          operator === '=' ? fields[field] === value : fields[field] !== value,
        );
        expect(selector.matches(fields)).to.equal(naive);
        expect(parseFieldSelector(selector.toString()).matches(fields)).to.equal(naive);
      }),
    );
  });

  it('treats an absent field as empty', () => {
    expect(parseFieldSelector('metadata.namespace=a').matches({})).to.equal(false);
    expect(parseFieldSelector('metadata.namespace!=a').matches({})).to.equal(true);
    expect(parseFieldSelector('metadata.namespace=').matches({})).to.equal(true);
    expect(parseFieldSelector('metadata.namespace!=').matches({})).to.equal(false);
  });

  it('returns the only value that it admits', () => {
    const selector = parseFieldSelector('metadata.name=a,metadata.namespace!=b');
    expect(selector.exactValue('metadata.name')).to.equal('a');
    expect(selector.exactValue('metadata.namespace')).to.equal(undefined);
  });
});
