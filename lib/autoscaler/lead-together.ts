import type { LeaderSubsystem } from './leader-subsystem.ts';

/**
 * Has subsystems act until the signal aborts. Where one fails, the others end, too: none acts any more when this is told.
 *
 * @throws what the first one failed with, once all have ended
 */
export async function leadTogether(
  subsystems: readonly Pick<LeaderSubsystem, 'lead'>[],
  signal: AbortSignal,
): Promise<void> {
  const failing = new AbortController();
  const all = AbortSignal.any([signal, failing.signal]);
  const lead = async (subsystem: Pick<LeaderSubsystem, 'lead'>) => {
    try {
      await subsystem.lead(all);
    } catch (error) {
      failing.abort(error); // the first counts
    }
  };
  await Promise.all(subsystems.map(lead));
  failing.signal.throwIfAborted();
}
