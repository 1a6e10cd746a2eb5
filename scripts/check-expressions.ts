import { faultOf, readExpressions } from '#spec/support/regular-expressions.ts';

/** Files in which expressions may be put together at run time, and why. */
const AT_RUN_TIME: Readonly<Record<string, string>> = {
  'simulator/resources/kinds/custom-resource-definitions.ts':
    'looks whether a pattern is one, and matches nothing',
  'simulator/resources/validate.ts': 'patterns of custom resources, which are those of our own manifests',
};

// Refuses regular expressions of lib/ and simulator/ for which a text exists that takes more than linear time.
const judged = new Map<string, string | undefined>();
for (const expression of ['lib', 'simulator'].flatMap(readExpressions)) {
  const shown = expression.pattern === undefined ? 'RegExp' : `/${expression.pattern}/${expression.flags}`;
  if (!judged.has(shown)) judged.set(shown, faultOf(expression));
  const fault = judged.get(shown);
  if (fault === undefined) continue;
  if (expression.pattern === undefined && Object.hasOwn(AT_RUN_TIME, expression.path)) continue;
  process.stderr.write(`${expression.path}:${expression.line}: ${shown} ${fault}\n`);
  process.exitCode = 1;
}
