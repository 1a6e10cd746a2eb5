import type { Scale } from '#lib/control/scale-client.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type IndexedPods, type Pod, selectPods } from '#lib/kubernetes/objects/pod.ts';
import {
  type LabelSelector,
  parseLabelSelector,
  SelectorError,
} from '#lib/kubernetes/selectors/label-selector.ts';
import type { Clock } from '#lib/time/clock.ts';
import { needsMetrics } from '../decision/decide.ts';
import type { DecisionInput, HpaConfig } from '../decision/decision-input.ts';

import { type MetricReaderOptions, type ReadingContext, readMetrics } from './metric-reader.ts';
import { SelectorRegistry } from './overlapping-hpas.ts';
import { type FollowedScales, readTargetScale } from './target-scales.ts';

/** What the world is read with. */
interface ReadWorldOptions {
  readonly pods: IndexedPods<Pod>;
  readonly scales: Pick<FollowedScales, 'get'>;
  readonly reader: MetricReaderOptions;
  readonly clock: Clock;
  readonly config: HpaConfig;
}

/** All that a decision follows from and that has to be read. */
export type World = Pick<DecisionInput, 'scale' | 'pods' | 'rivals' | 'readings'> & {
  /** The scale as it can be written; `undefined` where it could not be read. */
  readonly target: Scale | undefined;
  /** How long reading each metric took, in milliseconds, by its place. */
  readonly tookMs: ReadonlyMap<number, number>;
  /** Whether the scale is what an informer knew, which may be outdated. */
  readonly isFollowed: boolean;
};

interface ReadWorldRequest extends Pick<ReadingContext, 'maxAgeMs' | 'signal'> {
  readonly isFresh?: boolean;
  /** What was read right before: of the world as it is now, only the scale is read live then. */
  readonly earlier?: World | undefined;
}

/** Reads what decisions follow from. */
export class ReadWorld {
  readonly #options: ReadWorldOptions;
  readonly #selectors = new SelectorRegistry();

  constructor(options: ReadWorldOptions) {
    this.#options = options;
  }

  async of(hpa: Hpa, { maxAgeMs, signal, isFresh, earlier }: ReadWorldRequest): Promise<World> {
    const { namespace, name } = hpa.metadata;
    const read = await readTargetScale(hpa, this.#options.scales, { signal, ...(isFresh && { isFresh }) });
    if ('step' in read) return { ...NOTHING, scale: read, target: undefined, isFollowed: false };
    const { scale, isFollowed } = read;
    const selector = needsMetrics(hpa, scale, this.#options.config) ? selectorOf(scale.selector) : undefined;
    if (!selector) return { ...NOTHING, scale, target: scale, isFollowed };
    const key = `${namespace}/${name}`;
    this.#selectors.set(key, { namespace, name, selector });
    const pods = selectPods(this.#options.pods, namespace, selector);
    const rivals = this.#selectors.rivalsOf(key, namespace, pods);
    const context = { namespace, selector, pods, maxAgeMs, signal };
    // The readings are of the pods that the selector selects; what has to be read live is the scale alone.
    const isRead = earlier?.target?.selector === scale.selector && earlier.readings.length > 0;
    const { readings, tookMs } =
      rivals.length > 0 ? NOTHING : isRead ? earlier : await this.#readings(hpa, context);
    return { scale, target: scale, isFollowed, pods, rivals, readings, tookMs };
  }

  /** An HPA is no more. */
  forget(key: string): void {
    this.#selectors.delete(key);
  }

  async #readings({ spec }: Hpa, context: ReadingContext): Promise<Pick<World, 'readings' | 'tookMs'>> {
    const { reader, clock } = this.#options;
    const tookMs = new Map<number, number>();
    const onRead = (place: number, durationMs: number) => void tookMs.set(place, durationMs);
    return { readings: await readMetrics(spec.metrics ?? [], context, { reader, clock, onRead }), tookMs };
  }
}

const NOTHING: Pick<World, 'pods' | 'rivals' | 'readings' | 'tookMs'> = {
  pods: [],
  rivals: [],
  readings: [],
  tookMs: new Map(),
};

/** `undefined` for a selector that deciding refuses. */
function selectorOf(text: string): LabelSelector | undefined {
  if (text === '') return undefined;
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
