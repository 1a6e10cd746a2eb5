import { seededBetween } from '../seeded.ts';

/** When cAdvisor last looked at a cgroup, and when before that. */
export interface HousekeepingSample {
  readonly takenAtMs: number;
  /** `undefined` at the first look, from which no rate can be told. */
  readonly previousAtMs: number | undefined;
}

/**
 * The moments at which cAdvisor samples a cgroup: once as it appears, then every 10 to 20 s, each cgroup in a
 * rhythm of its own.
 */
export function latestHousekeeping(id: string, startedAtMs: number, nowMs: number): HousekeepingSample {
  const intervalMs = seededBetween({ from: 10_000, to: 20_000 }, 0, id);
  const rounds = Math.max(0, Math.floor((nowMs - startedAtMs) / intervalMs));
  const takenAtMs = startedAtMs + rounds * intervalMs;
  return { takenAtMs, previousAtMs: rounds > 0 ? takenAtMs - intervalMs : undefined };
}

/** The mean rate between the two latest looks, in nanocores; 0 when there was only one. */
export function nanocoresBetweenLooks(
  { takenAtMs, previousAtMs }: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): number {
  if (previousAtMs === undefined) return 0;
  const used = cpuCoreNanoseconds(takenAtMs) - cpuCoreNanoseconds(previousAtMs);
  return Math.max(0, Math.floor(used / ((takenAtMs - previousAtMs) / 1000)));
}
