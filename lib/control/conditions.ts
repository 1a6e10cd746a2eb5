import { formatTimestamp } from '#lib/time/timestamp.ts';

/** A condition of an object, in the standard form (`metav1.Condition`). */
export interface Condition {
  /** In CamelCase, such as `Ready`. */
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** Generation of the object that was observed. */
  readonly observedGeneration?: number | undefined;
  /** Time of the last change of the status: RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  /** In CamelCase, for programs. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

/** A condition as its controller observes it: {@link setCondition} adds the time. */
export type Observed<Form> = Omit<Form, 'lastTransitionTime'>;

/** Common fields of conditions: some kinds leave out reasons, messages or times. */
interface AnyCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A condition without times, as in KEDA's schema. */
interface UntimedCondition extends AnyCondition {
  readonly lastTransitionTime?: never;
}

/** Maximum length of a message in the Kubernetes API. */
const MAX_MESSAGE_LENGTH = 32_768;

/**
 * Sets one condition of a list: it replaces the one of its type in place, or is appended. Its transition time changes
 * only with its status; a missing time is added. An empty message is replaced by the reason: server-side apply of
 * Kubernetes 1.20 makes a null of an empty string in a list item, which a schema refuses.
 *
 * @param nowMs absent for conditions without times
 * @returns the same array where nothing changed
 */
export function setCondition<Form extends UntimedCondition>(
  conditions: readonly Form[],
  observed: Form,
): readonly Form[];
export function setCondition<Form extends AnyCondition>(
  conditions: readonly Form[],
  observed: Observed<Form>,
  nowMs: number,
): readonly Form[];
export function setCondition(
  conditions: readonly AnyCondition[],
  observed: Observed<AnyCondition>,
  nowMs?: number,
): readonly AnyCondition[] {
  const before = conditions.find(({ type }) => type === observed.type);
  if (before && isUnchanged(before, observed, nowMs)) return conditions;
  const after = conditionAfter(before, observed, nowMs);
  return before ? conditions.map((one) => (one === before ? after : one)) : [...conditions, after];
}

function isUnchanged(
  before: AnyCondition,
  observed: Observed<AnyCondition>,
  nowMs: number | undefined,
): boolean {
  return (
    before.status === observed.status &&
    before.reason === observed.reason &&
    before.message === messageOf(observed) &&
    before.observedGeneration === observed.observedGeneration &&
    (before.lastTransitionTime !== undefined || nowMs === undefined)
  );
}

function conditionAfter(
  before: AnyCondition | undefined,
  observed: Observed<AnyCondition>,
  nowMs: number | undefined,
): AnyCondition {
  const { type, status, reason, observedGeneration } = observed;
  const transitionTime = before?.status === status ? before.lastTransitionTime : undefined;
  const message = messageOf(observed);
  const lastTransitionTime = transitionTime ?? (nowMs === undefined ? undefined : formatTimestamp(nowMs));
  return {
    type,
    status,
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
}

function messageOf({ reason, message }: Observed<AnyCondition>): string | undefined {
  const text = message === '' ? reason : message;
  return text === undefined ? undefined : cut(text);
}

/** The list without the condition of a type; the same array where there is none. */
export function removeCondition<Form extends AnyCondition>(
  conditions: readonly Form[],
  type: string,
): readonly Form[] {
  return conditions.some((one) => one.type === type)
    ? conditions.filter((one) => one.type !== type)
    : conditions;
}

function cut(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return `${message.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…`;
}
