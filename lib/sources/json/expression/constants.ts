const PHI = (1 + Math.sqrt(5)) / 2;

/** What names stand for in expressions. */
export const constants: ReadonlyMap<string, number | boolean | null> = new Map<
  string,
  number | boolean | null
>([
  ['e', Math.E],
  ['pi', Math.PI],
  ['phi', PHI],
  ['sqrt2', Math.SQRT2],
  ['sqrte', Math.sqrt(Math.E)],
  ['sqrtpi', Math.sqrt(Math.PI)],
  ['sqrtphi', Math.sqrt(PHI)],
  ['ln2', Math.LN2],
  ['log2e', Math.LOG2E],
  ['ln10', Math.LN10],
  ['log10e', Math.LOG10E],
  ['true', true],
  ['false', false],
  ['null', null],
]);
