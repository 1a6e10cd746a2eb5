import { expect } from 'chai';
import fc from 'fast-check';
import { boolean, duration, flag, integer, repeatedText, text, texts } from '#lib/flags/flag.ts';
import { FlagError, parseFlags } from '#lib/flags/parse-flags.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';

const FLAGS = {
  address: flag('bind-address', text, { default: 'any', description: '' }),
  isInsecure: flag('insecure', boolean, { shorthand: 'i', default: false, description: '' }),
  isLoud: flag('loud', boolean, { default: true, description: '' }),
  level: flag('v', integer, {
    shorthand: 'v',
    default: 0,
    description: '',
    validate: (level) => (level < 0 ? 'must not be negative' : undefined),
  }),
  timeoutMs: flag('timeout', duration, { default: 1000, description: '' }),
  types: flag('types', texts, { default: ['a', 'b'], description: '' }),
  pairs: flag('pair', repeatedText, { default: [], description: '' }),
  profiling: flag('profiling', boolean, { default: true, description: '', ignoredBecause: 'no meaning' }),
};

describe('parseFlags', () => {
  const valuesOf = (...argv: readonly string[]) => parseFlags(FLAGS, argv).values;

  it('returns defaults', () => {
    expect(valuesOf()).to.deep.equal({
      address: 'any',
      isInsecure: false,
      isLoud: true,
      level: 0,
      timeoutMs: 1000,
      types: ['a', 'b'],
      pairs: [],
      profiling: true,
    });
  });

  const spellings: readonly [string[], object][] = [
    [['--bind-address=::1'], { address: '::1' }],
    [['--bind-address', '::1'], { address: '::1' }],
    [['--bind_address=::1'], { address: '::1' }],
    [['--bind-address='], { address: '' }],
    [['--bind-address=a=b'], { address: 'a=b' }],
    [['--bind-address', '--insecure'], { address: '--insecure', isInsecure: false }],
    [['--bind-address=a\nb'], { address: 'a\nb' }],
    [['--bind-address=a', '--bind-address=b'], { address: 'b' }],
    [['--insecure'], { isInsecure: true }],
    [['--insecure', 'false'], { isInsecure: true }],
    [['--insecure=false'], { isInsecure: false }],
    [['--loud=F'], { isLoud: false }],
    [['--insecure=TRUE'], { isInsecure: true }],
    [['-i'], { isInsecure: true }],
    [['-v=2'], { level: 2 }],
    [['-v', '2'], { level: 2 }],
    [['-v2'], { level: 2 }],
    [['--v=2'], { level: 2 }],
    [['-iv2'], { isInsecure: true, level: 2 }],
    [['-iv', '2'], { isInsecure: true, level: 2 }],
    [['-i=false', '-v=3'], { isInsecure: false, level: 3 }],
    [['--timeout=1m30s'], { timeoutMs: 90_000 }],
    [['--types=x,y'], { types: ['x', 'y'] }],
    [['--types=x', '--types=y,z'], { types: ['x', 'y', 'z'] }],
    [['--types='], { types: [] }],
    [['--pair=a,b', '--pair=c,d'], { pairs: ['a,b', 'c,d'] }],
    [['--', '--insecure'], { isInsecure: false }],
  ];
  for (const [argv, values] of spellings) {
    it(`parses ${JSON.stringify(argv.join(' '))}`, () => expect(valuesOf(...argv)).to.deep.include(values));
  }

  it('returns the given flags and the positional arguments', () => {
    const { given, arguments: others } = parseFlags(FLAGS, [
      'x',
      '-v1',
      '--profiling=false',
      '-v2',
      '-',
      '--',
      '-i',
    ]);
    expect(given.map(({ name }) => name)).to.deep.equal(['v', 'profiling']);
    expect(others).to.deep.equal(['x', '-', '-i']);
  });

  const refused: readonly [string[], string][] = [
    [['--nonsense=1'], 'Unknown flag --nonsense'],
    [['--'.padEnd(3, '=')], 'Unknown flag --'],
    [['--toString'], 'Unknown flag --toString'],
    [['-x'], 'Unknown flag -x'],
    [['-ix'], 'Unknown flag -x'],
    [['-xi'], 'Unknown flag -x in -xi'],
    [['--bind-address'], '--bind-address needs a value'],
    [['-v'], '-v needs a value'],
    [['--v=two'], 'Invalid value "two" for --v: must be a whole number'],
    [['-v', '-1'], 'Invalid value "-1" for -v: must not be negative'],
    [['--v=9007199254740993'], 'Invalid value "9007199254740993" for --v: must be a whole number'],
    [['--insecure=maybe'], 'Invalid value "maybe" for --insecure: must be true or false'],
    [['--timeout=5'], 'Invalid value "5" for --timeout: must be a duration with units, such as 90s or 1m30s'],
    [
      ['--timeout=\n'],
      'Invalid value "\\n" for --timeout: must be a duration with units, such as 90s or 1m30s',
    ],
  ];
  for (const [argv, message] of refused) {
    it(`rejects ${JSON.stringify(argv.join(' '))} with a one-line message`, () =>
      expect(() => valuesOf(...argv))
        .to.throw(FlagError)
        .with.property('message', message));
  }

  it('parses every spelling of every value', () => {
    const command = fc.record({ address: fc.string(), level: fc.nat(), isInsecure: fc.boolean() });
    const style = fc.constantFrom('=', ' ');
    fc.assert(
      fc.property(command, style, ({ address, level, isInsecure }, style) => {
        const pair = (name: string, value: string) => (style === '=' ? [`${name}=${value}`] : [name, value]);
        const argv = [
          ...pair('--bind-address', address),
          ...pair('-v', `${level}`),
          `--insecure=${isInsecure}`,
        ];
        expect(valuesOf(...argv)).to.deep.include({ address, level, isInsecure });
      }),
    );
  });

  it('parses in linear time', async () => {
    const wordsOf = (length: number) => new Array<string>(length).fill('');
    const readAll = (words: readonly string[]) => {
      expect(parseFlags(FLAGS, ['-v', '2', ...words]).arguments).to.have.length(words.length);
      expect(parseFlags(FLAGS, ['--', ...words]).arguments).to.have.length(words.length);
      expect(valuesOf(`-${'i'.repeat(words.length / 4)}`).isInsecure).to.equal(true);
    };
    const long = wordsOf(100_000);
    readAll(long); // growthOf takes errors for results
    expect(await growthOf(readAll, { short: wordsOf(1_560), long, parts: 64 })).to.include({
      isLinear: true,
    });
  });

  it('returns or throws a FlagError on any command line', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('--', '-i', '-v', '--types', '--timeout=', '--insecure='),
    );
    fc.assert(
      fc.property(fc.array(word), (argv) => {
        try {
          valuesOf(...argv);
        } catch (error) {
          expect(error).to.be.instanceOf(FlagError);
          expect(String(error)).not.to.contain('\n');
        }
      }),
    );
  });
});
