import { describeError } from '#lib/telemetry/logger.ts';
import type { Check } from './check.ts';
import { type ApiContext, MissingPermission } from './cluster-context.ts';
import type { Finding } from './finding.ts';

/** What came of one check. */
export interface CheckResult {
  readonly name: string;
  readonly title: string;
  readonly durationMs: number;
  readonly findings: readonly Finding[];
}

/**
 * Runs checks one after the other and reports each as soon as it is done. When the first fails, which all others
 * build on, the others are not tried.
 *
 * @returns whether nothing failed
 */
export async function runChecks<C extends ApiContext>(
  checks: readonly Check<C>[],
  context: C,
  onResult: (result: CheckResult) => void,
): Promise<boolean> {
  let isSound = true;
  for (const [index, check] of checks.entries()) {
    const startedAtMs = context.clock.monotonicMs();
    const findings = await look(check, context);
    const durationMs = context.clock.monotonicMs() - startedAtMs;
    onResult({ name: check.name, title: check.title, durationMs, findings });
    if (findings.some(({ status }) => status === 'failed')) {
      isSound = false;
      if (index === 0) return false;
    }
  }
  return isSound;
}

async function look<C extends ApiContext>(check: Check<C>, context: C): Promise<readonly Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    const missingPermission =
      error instanceof MissingPermission ? { missingPermission: error.permission } : {};
    const seen = error instanceof MissingPermission ? error.message : describeError(error);
    return [{ status: 'unchecked', subject: check.title, seen, ...missingPermission }];
  }
}
