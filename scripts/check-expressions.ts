import { faultOf, readExpressions } from '#spec/support/regular-expressions.ts';

// Refuses regular expressions of lib/ for which a text exists that takes more than linear time.
const judged = new Map<string, string | undefined>();
for (const expression of readExpressions('lib')) {
  const shown = expression.pattern === undefined ? 'RegExp' : `/${expression.pattern}/${expression.flags}`;
  if (!judged.has(shown)) judged.set(shown, faultOf(expression));
  const fault = judged.get(shown);
  if (fault === undefined) continue;
  process.stderr.write(`${expression.place}: ${shown} ${fault}\n`);
  process.exitCode = 1;
}
