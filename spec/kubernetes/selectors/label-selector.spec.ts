import { expect } from 'chai';
import fc from 'fast-check';
import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', " +
  "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'example.com', " +
  "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('parseLabelSelector', () => {
  const canonical: readonly [string, string][] = [
    ['', ''],
    ['  ', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a==b'],
    ['a != b', 'a!=b'],
    ['a', 'a'],
    ['! a', '!a'],
    ['a=', 'a='],
    ['a=,b', 'a=,b'],
    ['z,a', 'a,z'],
    ['a in (c,b,c)', 'a in (b,c)'],
    ['a notin(b)', 'a notin (b)'],
    ['a in ()', 'a in ()'],
    ['a in (,b)', 'a in (,b)'],
    ['a in (b,)', 'a in (,b)'],
    ['a in (b,,c)', 'a in (,b,c)'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['notin', 'notin'],
    ['a>1,b<2', 'a>1,b<2'],
    ['\ta\r\n=\nb ', 'a=b'],
    ['example.com/app.kubernetes_io-x=V-1_2.3', 'example.com/app.kubernetes_io-x=V-1_2.3'],
  ];
  for (const [text, written] of canonical) {
    it(`reads ${JSON.stringify(text)} as ${written}`, () =>
      expect(parseLabelSelector(text).toString()).to.equal(written));
  }

  const refused: readonly [string, string][] = [
    ['a===', "unable to parse requirement: found '=', expected: identifier"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a in (b,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['a in (b,,)', "unable to parse requirement: found ')', expected: ',', or identifier"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=(b)', "unable to parse requirement: found '(', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a=b c=d', "found 'c', expected: ',' or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['-a=b', `unable to parse requirement: <nil>: Invalid value: "-a": name part ${NAME_RULE}`],
    [
      'a/b/c=d',
      `unable to parse requirement: <nil>: Invalid value: "a/b/c": a qualified name ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    ['/a', 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
    [
      'a/',
      `unable to parse requirement: <nil>: Invalid value: "a/": name part must be non-empty; name part ${NAME_RULE}`,
    ],
    ['B/a', `unable to parse requirement: <nil>: Invalid value: "B/a": prefix part ${SUBDOMAIN_RULE}`],
    ['a=b_', `unable to parse requirement: values[0][a]: Invalid value: "b_": ${VALUE_RULE}`],
    ['a=ü"', `unable to parse requirement: values[0][a]: Invalid value: "ü\\"": ${VALUE_RULE}`],
    ['a in (b,c_)', `unable to parse requirement: values[1][a]: Invalid value: "c_": ${VALUE_RULE}`],
    [
      `a=${'b'.repeat(64)}`,
      `unable to parse requirement: values[0][a]: Invalid value: "${'b'.repeat(64)}": must be no more than 63 bytes`,
    ],
    [
      `${'a'.repeat(64)}=b`,
      `unable to parse requirement: <nil>: Invalid value: "${'a'.repeat(64)}": name part must be no more than 63 bytes`,
    ],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a<-b',
      `unable to parse requirement: [values[0]: Invalid value: "-b": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "-b": ${VALUE_RULE}]`,
    ],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))} as Kubernetes does`, () =>
      expect(() => parseLabelSelector(text))
        .to.throw(SelectorError)
        .with.property('message', message));
  }

  it('ends or throws its own error on any text', () => {
    const symbols = fc.constantFrom(
      'a',
      'in',
      'notin',
      '(',
      ')',
      ',',
      '=',
      '!',
      '<',
      '>',
      ' ',
      '\0',
      '1',
      '-',
      '__proto__',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(symbols).map((parts) => parts.join('')),
        ),
        (text) => {
          try {
            const selector = parseLabelSelector(text);
            expect(parseLabelSelector(selector.toString()).requirements).to.deep.equal(selector.requirements);
          } catch (error) {
            expect(error).to.be.instanceOf(SelectorError);
          }
        },
      ),
    );
  });
});

describe('LabelSelector', () => {
  it('treats a label named like a part of Object as data', () => {
    expect(parseLabelSelector('constructor').matches({})).to.equal(false);
    expect(parseLabelSelector('toString notin (c)').matches({})).to.equal(true);
    expect(parseLabelSelector('hasOwnProperty=b').matches(JSON.parse('{"hasOwnProperty":"b"}'))).to.equal(
      true,
    );
  });

  const comparisons: readonly [string, string, boolean][] = [
    ['a>1', '2', true],
    ['a>1', '1', false],
    ['a<10', '9', true],
    ['a>9007199254740992', '9007199254740993', true],
    ['a>1', 'b', false],
    ['a>1', '2x', false],
    ['a>1', 'x2', false],
    ['a<1', '', false],
    ['a>1', '9223372036854775808', false],
  ];
  for (const [text, value, outcome] of comparisons) {
    it(`returns ${outcome} of ${text} for ${JSON.stringify(value)}`, () =>
      expect(parseLabelSelector(text).matches({ a: value })).to.equal(outcome));
  }

  const key = fc.constantFrom('a', 'b', 'example.com/c');
  const value = fc.constantFrom('', '1', '2', '10', 'x');
  const condition = fc.record({
    key,
    operator: fc.constantFrom('=', '==', '!=', 'in', 'notin', 'exists', '!', '>', '<'),
    values: fc.uniqueArray(value, { minLength: 1 }),
  });

  it('agrees with a naive evaluation of its conditions', () => {
    fc.assert(
      fc.property(fc.array(condition, { maxLength: 4 }), fc.dictionary(key, value), (conditions, labels) => {
        const usable = conditions.filter(
          ({ operator, values }) => !'<>'.includes(operator) || /^\d+$/.test(values[0] ?? ''),
        );
        const naive = usable.every(({ key, operator, values: [first = '', ...others] }) => {
          const actual = labels[key];
          if (operator === 'exists') return actual !== undefined;
          if (operator === '!') return actual === undefined;
          if (operator === '!=') return actual !== first;
          if (operator === 'notin') return actual === undefined || ![first, ...others].includes(actual);
          if (actual === undefined) return false;
          if (operator === 'in') return [first, ...others].includes(actual);
          if (operator === '>') return /^\d+$/.test(actual) && Number(actual) > Number(first);
          if (operator === '<') return /^\d+$/.test(actual) && Number(actual) < Number(first);
          return actual === first;
        });
        expect(parseLabelSelector(usable.map(write).join(', ')).matches(labels)).to.equal(naive);
      }),
    );
  });
});

function write({ key, operator, values }: { key: string; operator: string; values: string[] }): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${values.join(', ')})`;
  return `${key} ${operator} ${values[0]}`;
}
