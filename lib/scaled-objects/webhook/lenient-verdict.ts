import { isDeepStrictEqual } from 'node:util';
import type { AdmissionRequest, Verdict } from './admission-review.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Makes a warning of a refusal where an update leaves the spec as it is, or the object is on its way out. What is wrong was there
 * before: who marks, pauses or deletes it must not be kept from that, the controller least of all, whose condition tells of it.
 */
export function lenientVerdict(verdict: Verdict, request: AdmissionRequest): Verdict {
  if (verdict.isAllowed || request.operation !== 'UPDATE') return verdict;
  const [object, before] = [fieldsOf(request.object), fieldsOf(request.oldObject)];
  const isLeaving = Boolean(fieldsOf(object.metadata).deletionTimestamp);
  if (!isLeaving && !isDeepStrictEqual(object.spec, before.spec)) return verdict;
  const { message = '', warnings = [] } = verdict;
  return { isAllowed: true, warnings: [message, ...warnings] };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
