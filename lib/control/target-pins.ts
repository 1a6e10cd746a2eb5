/** A target of scaling, as in a `scaleTargetRef`. */
export interface PinnedTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

type IsPinned = (namespace: string, target: PinnedTarget) => boolean;

/**
 * Targets whose size one subsystem pins for a while, such as until the next job of a Cron-HPA, so that another does not
 * lower their minimum meanwhile.
 */
export class TargetPins {
  readonly #sources: IsPinned[] = [];

  /** Adds a subsystem that pins targets. */
  add(isPinned: IsPinned): void {
    this.#sources.push(isPinned);
  }

  isPinned: IsPinned = (namespace, target) => this.#sources.some((isPinned) => isPinned(namespace, target));
}
