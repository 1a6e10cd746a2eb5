import type { HpaMemory } from '../decision/scaling-state.ts';
import type { KeptMemory } from './kept-memory.ts';

/** What was kept, with what was being recommended as of then: another controller has wanted since what there is now. */
export function endedBy(
  kept: KeptMemory,
  {
    currentReplicas,
    decidedAtMs,
  }: { readonly currentReplicas: number | undefined; readonly decidedAtMs: number },
): KeptMemory {
  return {
    ...kept,
    recommendations: [...kept.recommendations, ...(kept.latest ? [kept.latest] : [])],
    latest: currentReplicas === undefined ? undefined : { replicas: currentReplicas, atMs: decidedAtMs },
  };
}

/** The same of what is remembered in this term: what was wanted before another controller acted may be older than any window. */
export function endedIn(
  memory: HpaMemory,
  {
    currentReplicas,
    decidedAtMs,
    otherDecidedAtMs,
  }: {
    readonly currentReplicas: number | undefined;
    readonly decidedAtMs: number;
    readonly otherDecidedAtMs: number;
  },
): HpaMemory {
  const { recommendations } = memory;
  const latestMs = recommendations.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  // Where nothing was recommended yet, what there is counts anyway.
  if (recommendations.length === 0 || otherDecidedAtMs <= latestMs || currentReplicas === undefined)
    return memory;
  return {
    ...memory,
    recommendations: [...recommendations, { replicas: currentReplicas, atMs: decidedAtMs }],
  };
}
