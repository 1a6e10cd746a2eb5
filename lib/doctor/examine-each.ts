import { describeError } from '#lib/telemetry/logger.ts';
import { MissingPermission } from './cluster-context.ts';
import type { Finding } from './finding.ts';

/** So many objects are looked at at once. */
const AT_ONCE = 16;

/** Looks at objects, some at once. @returns a finding for each, in their order */
export async function examineEach<T>(
  objects: readonly T[],
  lookAt: (object: T) => Promise<Finding>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const waiting = objects.entries();
  const work = async () => {
    for (const [place, object] of waiting) findings[place] = await lookAt(object);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return findings;
}

/** Makes the finding that something could not be looked at. */
export function uncheckedBy(subject: string, error: unknown): Finding {
  const missing = error instanceof MissingPermission && { missingPermission: error.permission };
  return { status: 'unchecked', subject, seen: describeError(error), ...missing };
}
