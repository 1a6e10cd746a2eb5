// The HPA's rules in their simplest form, written independently of lib/hpa/: amounts are small integers, so
// floating-point numbers are exact enough, and there is one metric. Specs compare the two.

/** A pod in the model. */
export interface PlainPod {
  readonly state: 'ready' | 'unready' | 'missing' | 'ignored';
  /** Millicores. */
  readonly used: number;
  /** Millicores. */
  readonly requested: number;
}

/** Replicas that CPU utilization proposes; `undefined` when unknown. */
export function plainUtilization(
  pods: readonly PlainPod[],
  {
    target,
    tolerance,
    current,
  }: { readonly target: number; readonly tolerance: number; readonly current: number },
): number | undefined {
  const percentOf = (counted: readonly { readonly used: number; readonly requested: number }[]) => {
    const used = counted.map((pod) => pod.used).reduce((sum, one) => sum + one, 0);
    const requested = counted.map((pod) => pod.requested).reduce((sum, one) => sum + one, 0);
    return Math.floor((used * 100) / requested);
  };
  const ready = pods.filter(({ state }) => state === 'ready');
  if (ready.length === 0) return undefined;
  const isTolerable = (ratio: number) => ratio >= 1 - tolerance && ratio <= 1 + tolerance;
  const ratio = percentOf(ready) / target;
  const missing = pods.filter(({ state }) => state === 'missing');
  const unready = ratio > 1 ? pods.filter(({ state }) => state === 'unready') : [];
  if (missing.length + unready.length === 0) {
    return isTolerable(ratio) ? current : Math.ceil(ratio * ready.length);
  }
  const assumedPercent = ratio < 1 ? Math.max(100, target) : 0;
  const counted = [
    ...ready,
    ...(ratio === 1 ? [] : missing).map((pod) => ({
      ...pod,
      used: Math.floor((pod.requested * assumedPercent) / 100), // multiplied first: a hundredth is not exact
    })),
    ...unready.map((pod) => ({ ...pod, used: 0 })),
  ];
  const careful = percentOf(counted) / target;
  const replicas = Math.ceil(careful * counted.length);
  const changesSides = (careful - 1) * (ratio - 1) < 0;
  const goesTheOtherWay = (careful - 1) * (replicas - current) < 0;
  return isTolerable(careful) || changesSides || goesTheOtherWay ? current : replicas;
}

/** Earlier events: how many seconds ago, and which. */
export interface PlainPast {
  readonly recommended: readonly (readonly [secondsAgo: number, replicas: number])[];
  readonly added: readonly (readonly [secondsAgo: number, pods: number])[];
  readonly removed: readonly (readonly [secondsAgo: number, pods: number])[];
}

export interface PlainRules {
  readonly window: number;
  readonly select: 'Max' | 'Min' | 'Disabled';
  readonly policies: readonly {
    readonly type: 'Pods' | 'Percent';
    readonly value: number;
    readonly period: number;
  }[];
}

export interface PlainBehavior {
  readonly up: PlainRules;
  readonly down: PlainRules;
  readonly min: number;
  readonly max: number;
}

/** The result of behavior for a proposal. */
export function plainBehavior(
  proposed: number,
  current: number,
  { past, behavior }: { readonly past: PlainPast; readonly behavior: PlainBehavior },
): number {
  const { up, down, min, max } = behavior;
  const recent = (window: number) =>
    past.recommended.filter(([secondsAgo]) => secondsAgo < window).map(([, replicas]) => replicas);
  const floor = Math.min(proposed, ...recent(up.window));
  const ceiling = Math.max(proposed, ...recent(down.window));
  const stable = current < floor ? Math.min(floor, ceiling) : current > ceiling ? ceiling : current;
  if (stable === current) return current;

  const isUp = stable > current;
  const rules = isUp ? up : down;
  if (rules.select === 'Disabled') return current;
  const sumOf = (events: PlainPast['added'], period: number) =>
    events.filter(([secondsAgo]) => secondsAgo < period).reduce((sum, [, pods]) => sum + pods, 0);
  const reachable = rules.policies.map(({ type, value, period }) => {
    const start = current - sumOf(past.added, period) + sumOf(past.removed, period);
    const step = type === 'Pods' ? value : (start * value) / 100;
    return isUp ? Math.ceil(round(start + step)) : Math.floor(round(start - step));
  });
  const furthest = rules.select === 'Max' ? isUp : !isUp;
  const reach = furthest ? Math.max(...reachable) : Math.min(...reachable);
  return isUp
    ? Math.min(stable, max, Math.max(reach, current))
    : Math.max(stable, min, Math.min(reach, current));
}

/** Removes floating-point errors. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** The inputs for grouping a pod: ages in seconds before the decision. */
export interface PlainAges {
  readonly isDeleting: boolean;
  readonly isPending: boolean;
  readonly isReady: boolean;
  readonly startedAgo: number;
  /** When it became ready or unready. */
  readonly changedAgo: number;
  /** When its sample was taken, and its window; `undefined` for a pod without one. */
  readonly sample: { readonly ago: number; readonly window: number } | undefined;
}

/** The group of a pod for CPU, by its ages. */
export function plainState(
  { isDeleting, isPending, isReady, startedAgo, changedAgo, sample }: PlainAges,
  { initialization, readinessDelay }: { readonly initialization: number; readonly readinessDelay: number },
): PlainPod['state'] {
  if (isDeleting) return 'ignored';
  if (isPending) return 'unready';
  if (!sample) return 'missing';
  const isInitializing = startedAgo < initialization;
  const secondsOfSampleAfterChange = changedAgo - sample.ago;
  if (isInitializing) return isReady && secondsOfSampleAfterChange >= sample.window ? 'ready' : 'unready';
  const changedAfterStart = startedAgo - changedAgo;
  return isReady || changedAfterStart >= readinessDelay ? 'ready' : 'unready';
}

/**
 * The replicas that an average proposes, in integers only; `undefined` when unknown.
 *
 * @param tolerance in eighths of the target, in each direction
 */
export function plainAverage(
  pods: readonly Omit<PlainPod, 'requested'>[],
  {
    target,
    tolerance,
    current,
  }: {
    readonly target: number;
    readonly tolerance: { readonly down: number; readonly up: number };
    readonly current: number;
  },
): number | undefined {
  const usedBy = (state: PlainPod['state']) =>
    pods.filter((pod) => pod.state === state).map(({ used }) => used);
  const meanOf = (values: readonly number[]) =>
    Math.trunc(values.reduce((sum, one) => sum + one, 0) / values.length);
  const isTolerable = (mean: number) =>
    mean * 8 >= target * (8 - tolerance.down) && mean * 8 <= target * (8 + tolerance.up);
  const replicasFor = (mean: number, count: number) => Math.ceil((mean * count) / target);

  const ready = usedBy('ready');
  if (ready.length === 0) return undefined;
  const mean = meanOf(ready);
  if (mean === target) return current; // also with missing samples: no sample proposes another number
  const isRising = mean > target;
  const assumed = [
    ...usedBy('missing').map(() => (isRising ? 0 : target)),
    ...(isRising ? usedBy('unready').map(() => 0) : []),
  ];
  if (assumed.length === 0) return isTolerable(mean) ? current : replicasFor(mean, ready.length);
  const counted = [...ready, ...assumed];
  const careful = meanOf(counted);
  const replicas = replicasFor(careful, counted.length);
  if (isTolerable(careful) || careful > target !== isRising) return current;
  return (isRising ? replicas < current : replicas > current) ? current : replicas;
}
