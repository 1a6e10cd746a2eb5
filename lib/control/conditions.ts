import { formatTimestamp } from '#lib/time/timestamp.ts';

/** What is the case with an object, in the standard form (`metav1.Condition`). */
export interface Condition {
  /** In CamelCase, as in `Ready`. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** Of the object that was looked at. */
  readonly observedGeneration?: number;
  /** When the status became what it is. */
  readonly lastTransitionTime: string;
  /** In CamelCase, for programs. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

/** A condition as a controller finds it, without the time since when it is so. */
export type FoundCondition = Omit<Condition, 'lastTransitionTime'>;

/** No condition of the Kubernetes API may have a longer message. */
const MAX_MESSAGE_LENGTH = 32_768;

/**
 * The conditions with one of them as it was found now. Its transition time stays while its status does. Where there is no
 * message, the reason stands in for it: of an empty text in an item of a list, server-side apply of Kubernetes 1.20 makes a
 * null, which a schema refuses.
 *
 * @returns the same array where nothing changed
 */
export function withCondition(
  conditions: readonly Condition[],
  found: FoundCondition,
  nowMs: number,
): readonly Condition[] {
  const message = cut(found.message === '' ? found.reason : found.message);
  const before = conditions.find(({ type }) => type === found.type);
  if (!before) return [...conditions, { ...found, message, lastTransitionTime: formatTimestamp(nowMs) }];
  const isSame =
    before.status === found.status &&
    before.reason === found.reason &&
    before.message === message &&
    before.observedGeneration === found.observedGeneration;
  if (isSame) return conditions;
  const lastTransitionTime =
    before.status === found.status ? before.lastTransitionTime : formatTimestamp(nowMs);
  const after = { ...found, message, lastTransitionTime };
  return conditions.map((one) => (one === before ? after : one));
}

function cut(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return `${message.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…`;
}
