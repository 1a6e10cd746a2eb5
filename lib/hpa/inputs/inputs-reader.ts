import type { EventLoopShare, Steps } from '#lib/concurrency/event-loop.ts';
import type { Scale } from '#lib/control/scale-client.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type IndexedPods, type Pod, SelectionError, selectablePods } from '#lib/kubernetes/objects/pod.ts';
import {
  type LabelSelector,
  MAX_SELECTOR_LENGTH,
  SelectorError,
} from '#lib/kubernetes/selectors/label-selector.ts';
import type { Clock } from '#lib/time/clock.ts';
import { needsMetrics, parseScaleSelector } from '../decision/decide.ts';
import type { DecisionInput, HpaConfig } from '../decision/decision-input.ts';

import { type MetricReaderOptions, type ReadingContext, readMetrics } from './metric-reader.ts';
import { SelectorRegistry } from './overlapping-hpas.ts';
import { readTargetScale, type TargetScales } from './target-scales.ts';

interface InputsReaderOptions {
  readonly pods: IndexedPods<Pod>;
  readonly scales: Pick<TargetScales, 'get'>;
  readonly reader: MetricReaderOptions;
  readonly clock: Clock;
  readonly config: HpaConfig;
  /** Where pods and HPAs are compared. */
  readonly share: EventLoopShare;
}

/** The inputs of a decision that have to be read. */
export type HpaInputs = Pick<
  DecisionInput,
  'scale' | 'pods' | 'selectionError' | 'overlapping' | 'readings'
> & {
  /** The scale to write; `undefined` when it cannot be read. */
  readonly target: Scale | undefined;
  /** Read duration of each metric in ms, by index. */
  readonly tookMs: ReadonlyMap<number, number>;
  /** Whether the scale comes from an informer and may be outdated. */
  readonly isCached: boolean;
};

interface ReadInputsRequest extends Pick<ReadingContext, 'maxAgeMs' | 'signal'> {
  readonly isFresh?: boolean;
  /** Inputs read just before: only the scale is read again then. */
  readonly earlier?: HpaInputs | undefined;
}

/** Reads the inputs of decisions. */
export class InputsReader {
  readonly #options: InputsReaderOptions;
  readonly #selectors = new SelectorRegistry();

  constructor(options: InputsReaderOptions) {
    this.#options = options;
  }

  async read(hpa: Hpa, { maxAgeMs, signal, isFresh, earlier }: ReadInputsRequest): Promise<HpaInputs> {
    const { namespace, name } = hpa.metadata;
    const read = await readTargetScale(hpa, this.#options.scales, { signal, ...(isFresh && { isFresh }) });
    if ('step' in read) return { ...NOTHING, scale: read, target: undefined, isCached: false };
    const { scale, isCached } = read;
    if (!needsMetrics(hpa, scale, this.#options.config))
      return { ...NOTHING, scale, target: scale, isCached };
    const { share } = this.#options;
    const { selector, pods, overlapping, selectionError } = await share.runSteps(
      this.#selectInSteps({ namespace, name, text: scale.selector }),
      { tenant: namespace, signal },
    );
    if (!selector) return { ...NOTHING, scale, target: scale, isCached };
    if (selectionError !== undefined) return { ...NOTHING, scale, target: scale, isCached, selectionError };
    const context = { namespace, selector, pods, maxAgeMs, signal };
    // The readings are of the pods that the selector selects; only the scale has to be read from the API server.
    const isRead = earlier?.target?.selector === scale.selector && earlier.readings.length > 0;
    const { readings, tookMs } =
      overlapping.length > 0 ? NOTHING : isRead ? earlier : await this.#readings(hpa, context);
    return { scale, target: scale, isCached, pods, overlapping, readings, tookMs };
  }

  /** Removes a deleted HPA. */
  remove(key: string): void {
    this.#selectors.delete(key);
  }

  /** Parses the selector as the first step, since that of the longest selector takes a millisecond. */
  *#selectInSteps({
    namespace,
    name,
    text,
  }: {
    namespace: string;
    name: string;
    text: string;
  }): Steps<
    { readonly selector?: LabelSelector } & Pick<HpaInputs, 'pods' | 'overlapping' | 'selectionError'>
  > {
    const key = `${namespace}/${name}`;
    const selector = this.#selectors.find(key, text) ?? selectorOf(text);
    if (!selector) return NOTHING;
    this.#selectors.set(key, { namespace, name, selector, text });
    yield;
    const pods: Pod[] = [];
    const selectable = this.#selectable(namespace, selector);
    if (selectable instanceof SelectionError)
      return { ...NOTHING, selector, selectionError: selectable.message };
    for (const pod of selectable) {
      if (selector.matches(pod.labels)) pods.push(pod);
      yield;
    }
    return { selector, pods, overlapping: yield* this.#selectors.findOverlappingHpas(key, namespace, pods) };
  }

  #selectable(namespace: string, selector: LabelSelector): readonly Pod[] | SelectionError {
    try {
      return selectablePods(this.#options.pods, namespace, selector);
    } catch (error) {
      if (error instanceof SelectionError) return error;
      throw error;
    }
  }

  async #readings({ spec }: Hpa, context: ReadingContext): Promise<Pick<HpaInputs, 'readings' | 'tookMs'>> {
    const { reader, clock } = this.#options;
    const tookMs = new Map<number, number>();
    const onRead = (index: number, durationMs: number) => void tookMs.set(index, durationMs);
    return { readings: await readMetrics(spec.metrics ?? [], context, { reader, clock, onRead }), tookMs };
  }
}

const NOTHING: Pick<HpaInputs, 'pods' | 'overlapping' | 'readings' | 'tookMs'> = {
  pods: [],
  overlapping: [],
  readings: [],
  tookMs: new Map(),
};

/** `undefined` for a selector that `decide` rejects. */
function selectorOf(text: string): LabelSelector | undefined {
  if (text === '' || text.length > MAX_SELECTOR_LENGTH) return undefined;
  try {
    return parseScaleSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
