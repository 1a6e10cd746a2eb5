import { faultOf, readExpressions } from '#spec/support/regular-expressions.ts';

/** Files in which expressions may be built at run time, and why. */
const AT_RUN_TIME: Readonly<Record<string, string>> = {
  'simulator/resources/kinds/custom-resource-definitions.ts':
    'checks whether a pattern is valid, and matches nothing',
  'simulator/resources/validate.ts': 'patterns of custom resources, which come from our own manifests',
};

// Rejects regular expressions of lib/ and simulator/ that take more than linear time for some text.
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
