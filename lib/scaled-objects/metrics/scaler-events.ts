import type { ObjectEvents } from '../api/object-events.ts';
import type { PreparedTrigger } from '../preparation/prepared-triggers.ts';

/** Limits of reported keys of one trigger. */
const MAX_KEYS = 10;
const MAX_KEY_LENGTH = 100;

/** Records events that the triggers of an object are polled, and which of their settings have no effect or are missing. */
export function recordStarted(triggers: readonly PreparedTrigger[], own: ObjectEvents): void {
  own.normal('KEDAScalersStarted', 'Started scalers watch');
  for (const type of new Set(triggers.map((trigger) => trigger.type)))
    own.normal('KEDAScalersStarted', `Scaler ${type} is built`);
  for (const { type, name, unmatched, missing } of triggers) {
    const scaler = name ? `${type} (${name})` : type;
    for (const key of unmatched.slice(0, MAX_KEYS))
      own.warning(
        'KEDAScalerInfo',
        `Unmatched input property ${key.slice(0, MAX_KEY_LENGTH)} in scaler ${scaler}`,
      );
    for (const what of missing)
      own.warning('KEDAScalerInfo', `Scaler ${scaler} uses an empty parameter: ${what}`);
  }
}

export function recordStopped(own: ObjectEvents): void {
  own.normal('KEDAScalersStopped', 'Stopped scalers watch');
}
