import type { Clock } from '#lib/time/clock.ts';
import type { PlannedTrigger } from '../triggers/planned-object.ts';
import type { PushSource } from '../triggers/trigger.ts';

interface Following {
  readonly ended: AbortController;
  pushed: () => void;
  pushedAtMs: number | undefined;
}

/** For so long what was pushed counts by itself; by then its trigger was asked. */
const COUNTS_MS = 5000;
/** What is pushed again sooner changes nothing. */
const QUIET_MS = 1000;

/** Follows the sources of objects that push. */
export class PushFollowers implements Disposable {
  readonly #clock: Clock;
  readonly #owners = new Map<string, Map<string, Following>>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Has these sources of an owner followed, and no others of its; one that is followed goes on. */
  replace(
    owner: string,
    triggers: readonly PlannedTrigger[],
    onActive: (triggers: readonly PlannedTrigger[]) => void,
  ): void {
    const before = this.#owners.get(owner) ?? new Map<string, Following>();
    const now = new Map<string, Following>();
    for (const { push } of triggers) {
      if (!push || now.has(push.key)) continue;
      const pushed = () => onActive(triggers.filter((trigger) => trigger.push?.key === push.key));
      const following = before.get(push.key) ?? this.#follow(push);
      following.pushed = pushed;
      now.set(push.key, following);
      before.delete(push.key);
    }
    for (const { ended } of before.values()) ended.abort(new Error('nobody wants to know any more'));
    if (now.size > 0) this.#owners.set(owner, now);
    else this.#owners.delete(owner);
  }

  /** Whether the source of a trigger has told just now that there is something to do. */
  isPushed(owner: string, { push }: Pick<PlannedTrigger, 'push'>): boolean {
    const pushedAtMs = push && this.#owners.get(owner)?.get(push.key)?.pushedAtMs;
    return pushedAtMs !== undefined && this.#clock.monotonicMs() - pushedAtMs < COUNTS_MS;
  }

  /** Follows nothing any more. */
  [Symbol.dispose](): void {
    for (const owner of [...this.#owners.keys()]) this.replace(owner, [], () => {});
  }

  #follow(push: PushSource): Following {
    const following: Following = { ended: new AbortController(), pushed: () => {}, pushedAtMs: undefined };
    const onActive = () => {
      const nowMs = this.#clock.monotonicMs();
      if (following.pushedAtMs !== undefined && nowMs - following.pushedAtMs < QUIET_MS) return;
      following.pushedAtMs = nowMs;
      following.pushed();
    };
    void push.follow(onActive, following.ended.signal).catch(() => {}); // it ends with the signal
    return following;
  }
}
