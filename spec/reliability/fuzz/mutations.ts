import fc from 'fast-check';

/** Texts that parsers often fail on. */
const TRIPWIRES = [
  ...[
    '',
    '\0',
    '\n',
    '\r\n',
    ' ',
    '\t',
    '"',
    "'",
    '\\',
    '%',
    '%zz',
    '%00',
    '=',
    '==',
    '!',
    ',',
    ';',
    ':',
    '/',
  ],
  ...['(', ')', '[', ']', '{', '}', '-', '+', '.', '*', '#', '&', '?', '\ud800', '\u202e', 'é', '🙂'],
  ...['0', '-0', '1e999', '9'.repeat(30), 'NaN', 'Infinity', 'null', 'true', '__proto__', 'constructor'],
];

type Mutation = (text: string) => string;

const place = fc.double({ min: 0, max: 1, noNaN: true });
const span = fc.tuple(place, place).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

const cut = (text: string, [from, to]: readonly [number, number]) => {
  const [start, end] = [Math.floor(from * text.length), Math.ceil(to * text.length)];
  return { before: text.slice(0, start), within: text.slice(start, end), behind: text.slice(end) };
};

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  span.map(
    (where): Mutation =>
      (text) =>
        cut(text, where).before + cut(text, where).behind,
  ),
  span.map(
    (where): Mutation =>
      (text) => {
        const { before, within, behind } = cut(text, where);
        return before + within + within + behind;
      },
  ),
  fc.tuple(place, fc.constantFrom(...TRIPWIRES)).map(
    ([at, inserted]): Mutation =>
      (text) => {
        const { before, behind } = cut(text, [at, at]);
        return before + inserted + behind;
      },
  ),
  fc.tuple(place, fc.integer({ min: 0, max: 0xffff })).map(
    ([at, code]): Mutation =>
      (text) => {
        const { before, behind } = cut(text, [at, at]);
        return before + String.fromCharCode(code) + behind.slice(1);
      },
  ),
  // Repeats one character very often, so that quadratic time is detectable.
  fc.tuple(place, fc.integer({ min: 1000, max: 100_000 })).map(
    ([at, times]): Mutation =>
      (text) => {
        const { before, behind } = cut(text, [at, at]);
        return before + (behind[0] ?? '1').repeat(times) + behind;
      },
  ),
);

/** Repeats a piece up to the maximum length of a text or an eighth of it, so that the cost of repetition is detectable. */
function repetition(bound: number): fc.Arbitrary<Mutation> {
  return fc.tuple(span, fc.constantFrom(bound / 8, bound)).map(
    ([where, length]): Mutation =>
      (text) => {
        const { before, within, behind } = cut(text, where);
        const piece = within.slice(0, MAX_PIECE_LENGTH) || ' ';
        const times = Math.floor((length - text.length) / piece.length);
        return before + piece.repeat(Math.max(1, times)) + behind;
      },
  );
}

/** Longer pieces fit too few times into a text to be detectable. */
const MAX_PIECE_LENGTH = 40;

/**
 * One of the seeds after a few changes, or an unrelated text.
 *
 * @param bound length in characters that repetition fills
 */
export function mutated(seeds: readonly string[], bound: number): fc.Arbitrary<string> {
  const repeated = fc
    .tuple(fc.constantFrom(...seeds), repetition(bound), fc.array(mutation, { maxLength: 2 }))
    .map(([seed, repeat, mutations]) => mutations.reduce((text, mutate) => mutate(text), repeat(seed)));
  const changed = fc
    .tuple(fc.constantFrom(...seeds), fc.array(mutation, { maxLength: 6 }))
    .map(([seed, mutations]) => mutations.reduce((text, mutate) => mutate(text), seed));
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    { weight: 1, arbitrary: repeated },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
}
