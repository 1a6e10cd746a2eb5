import type { Subsystem } from '#lib/apiserver/subsystems.ts';
import type { HasUi } from '#lib/ui/page.ts';
import type { AutoscalerUiPart } from './ui/render-page.ts';

/** A subsystem of the autoscaler: every replica serves and follows objects, and only the leader acts. */
export interface LeaderSubsystem extends Subsystem, Partial<HasUi<AutoscalerUiPart>> {
  /** What only the leader does; comes back once the signal has aborted and nothing acts any more. */
  lead(signal: AbortSignal): Promise<void>;
}
