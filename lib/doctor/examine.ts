import { printableLines } from '#lib/telemetry/printable.ts';
import type { Check } from './check.ts';
import type { ApiContext } from './cluster-context.ts';
import { formatResult } from './format-result.ts';
import { type CheckResult, runChecks } from './run-checks.ts';

/** How to tell what was found, and to whom. */
export interface Telling {
  readonly output: 'text' | 'json';
  /** Takes what is found, in whole lines. */
  readonly write: (text: string) => void;
}

/**
 * Has checks look, and tells what they found: each as soon as it is done, or all in one JSON document.
 *
 * @returns whether nothing is wrong
 */
export async function examine<C extends ApiContext>(
  checks: readonly Check<C>[],
  context: C,
  { output, write }: Telling,
): Promise<boolean> {
  const results: CheckResult[] = [];
  const isSound = await runChecks(checks, context, (result) => {
    results.push(result);
    if (output === 'text') write(`${formatResult(result)}\n`);
  });
  if (output === 'json')
    write(`${printableLines(JSON.stringify({ ok: isSound, checks: results }, undefined, 2))}\n`);
  return isSound;
}
