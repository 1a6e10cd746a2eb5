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
  return latestLook(housekeepingIntervalMs(id), startedAtMs, nowMs);
}

/** How long after each other cAdvisor looks at a cgroup. */
export function housekeepingIntervalMs(id: string): number {
  return seededBetween({ from: 10_000, to: 20_000 }, 0, id);
}

/** {@link latestHousekeeping} of a cgroup whose interval is known. */
export function latestLook(intervalMs: number, startedAtMs: number, nowMs: number): HousekeepingSample {
  const rounds = Math.max(0, Math.floor((nowMs - startedAtMs) / intervalMs));
  const takenAtMs = startedAtMs + rounds * intervalMs;
  return { takenAtMs, previousAtMs: rounds > 0 ? takenAtMs - intervalMs : undefined };
}

/** What cAdvisor tells of a counter: its value at the latest look, and the mean rate since the one before. */
export interface LookedAtUsage {
  readonly coreNanoseconds: number;
  /** 0 when there was only one look. */
  readonly nanocores: number;
}

/** Looks at a counter. */
export function usageAtLook(
  { takenAtMs, previousAtMs }: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): LookedAtUsage {
  const coreNanoseconds = cpuCoreNanoseconds(takenAtMs);
  if (previousAtMs === undefined) return { coreNanoseconds, nanocores: 0 };
  const used = coreNanoseconds - cpuCoreNanoseconds(previousAtMs);
  const nanocores = Math.max(0, Math.floor(used / ((takenAtMs - previousAtMs) / 1000)));
  return { coreNanoseconds, nanocores };
}

/** The mean rate between the two latest looks, in nanocores; 0 when there was only one. */
export function nanocoresBetweenLooks(
  look: HousekeepingSample,
  cpuCoreNanoseconds: (atMs: number) => number,
): number {
  return usageAtLook(look, cpuCoreNanoseconds).nanocores;
}
