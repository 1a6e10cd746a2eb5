import type { ServedObject, Watchable } from '#lib/apiserver/resources/served-object.ts';
import { objectChanges } from './object-changes.ts';
import { eventOf, type WatchEvent } from './watch-event.ts';
import type { WatchStart } from './watch-start.ts';

/** What a watch is about. */
export interface WatchSubject {
  readonly watchable: Watchable;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly isWanted: (object: ServedObject) => boolean;
  /** Whether the watcher is to know its version, too, when nothing of its own has changed. */
  readonly sendsBookmarks: boolean;
}

/**
 * Tells what changes from a start on, a round of events for each version, for as long as the signal lets it. A watcher that
 * takes long over one round is told in the next what has changed since, not all that happened meanwhile, so that
 * nothing piles up.
 */
export async function* watchRounds(
  start: WatchStart,
  subject: WatchSubject,
  signal: AbortSignal,
): AsyncGenerator<Iterable<WatchEvent>, void, void> {
  const { watchable, namespace } = subject;
  let { known, version } = start;
  let isInitialEnd = start.marksInitialEnd;
  while (!signal.aborted) {
    const next = watchable.version();
    const current = watchable.current(namespace);
    yield round({ known, current }, { subject, version: next, isInitialEnd, isNew: next !== version });
    isInitialEnd = false;
    [known, version] = [current, next];
    try {
      await watchable.changed(version, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function* round(
  { known, current }: { readonly known: WatchStart['known']; readonly current: WatchStart['known'] },
  told: {
    readonly subject: WatchSubject;
    readonly version: string;
    readonly isInitialEnd: boolean;
    readonly isNew: boolean;
  },
): Generator<WatchEvent, void, void> {
  const { subject, version, isInitialEnd, isNew } = told;
  for (const change of objectChanges(known, current, subject.watchable.isUnchanged)) {
    const event = eventOf(change, { isWanted: subject.isWanted, version });
    if (event) yield event;
  }
  if (subject.sendsBookmarks && (isInitialEnd || isNew)) {
    yield { type: 'BOOKMARK', resourceVersion: version, isInitialEnd };
  }
}
