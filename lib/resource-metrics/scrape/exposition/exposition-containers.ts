import type { Interner } from '#lib/cache/interner.ts';
import type { PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import { type ContainerReport, completePod } from '#lib/resource-metrics/scrape/complete-pod.ts';
import type { SampleReader, Span } from '#lib/resource-metrics/scrape/decoding/sample-reader.ts';
import { ContainerCount } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { type ExpectedContainer, type ExpectedPod, mayBeExpected } from './expected-containers.ts';

/** A report that is filled sample by sample. */
export type ReportDraft = { -readonly [Key in keyof ContainerReport]: ContainerReport[Key] };

/** The labels that tell which container a sample is about. */
const NAMING_LABELS = ['namespace', 'pod', 'container'] as const;
type NamingLabel = (typeof NAMING_LABELS)[number];
const LABEL_BYTES: Readonly<Record<NamingLabel, Uint8Array>> = {
  namespace: Buffer.from('namespace'),
  pod: Buffer.from('pod'),
  container: Buffer.from('container'),
};

/** Nobody's: of samples that name no container. */
const NOBODY = '';

/** What expositions are read with. */
export interface ExpositionContainersOptions {
  readonly names: Interner<string>;
  /** The containers of the node's latest exposition, in its order. */
  readonly expected: readonly ExpectedContainer[];
}

/**
 * The containers of an exposition. Kubelets sort samples by name and labels, so each series, and each response, reports the same
 * containers in the same order: whose sample comes next is known from before, and its labels are compared rather than read.
 */
export class ExpositionContainers {
  readonly #reader: SampleReader;
  readonly #names: Interner<string>;
  /** Those that may come, in their likely order; those that came unexpectedly behind them. */
  readonly #likely: ExpectedContainer[];
  readonly #reports: (ReportDraft | undefined)[] = [];
  /** Which of them is likely to come next. */
  #next = 0;
  /** Which of them is which, once one came in another order. */
  #places: Map<string, number> | undefined;
  #pods: Map<string, ExpectedPod> | undefined;
  readonly #found: ExpectedContainer[] = [];
  readonly #reportsByPod = new Map<ExpectedPod, ReportDraft[]>();
  readonly #count = new ContainerCount();
  readonly #labels: Record<NamingLabel, string> = { namespace: '', pod: '', container: '' };

  constructor(reader: SampleReader, { names, expected }: ExpositionContainersOptions) {
    this.#reader = reader;
    this.#names = names;
    this.#likely = [...expected];
  }

  /** The containers, in the order of their first samples. */
  get found(): readonly ExpectedContainer[] {
    return this.#found;
  }

  /**
   * Reads the labels of a sample.
   *
   * @returns the report of its container, of nobody's where it names none; `undefined` where they are malformed
   * @throws {ExcessiveResponse} when there are more containers than a node can have
   */
  report(): ReportDraft | undefined {
    const likely = this.#isAhead(this.#next) ? this.#next : this.#isAhead(0) ? 0 : undefined;
    if (likely !== undefined) return this.#reportAt(likely);
    const labels = this.#labels;
    labels.namespace = labels.pod = labels.container = '';
    if (this.#reader.labels(this.#note) === undefined) return undefined;
    if (!labels.namespace || !labels.pod || !labels.container) return emptyReport(NOBODY);
    const key = `${labels.namespace}/${labels.pod}/${labels.container}`;
    const place = this.#placesByKey().get(key);
    if (place !== undefined) return this.#reportAt(place);
    this.#places?.set(key, this.#likely.length);
    return this.#begin(this.#likely.push(this.#newContainer()) - 1);
  }

  /** All pods, in the order of their first samples. */
  pods(): readonly PodPoints[] {
    return Array.from(this.#reportsByPod, ([{ namespace, name }, reports]) => {
      return { namespace, name, uid: undefined, ...completePod(reports) };
    });
  }

  readonly #note = (name: Span, value: Span): void => {
    for (const label of NAMING_LABELS)
      if (this.#reader.is(name, LABEL_BYTES[label])) this.#labels[label] = this.#reader.text(value);
  };

  #isAhead(place: number): boolean {
    const container = this.#likely[place];
    return container?.isPlain === true && this.#reader.skipNames(container.name, container.pod);
  }

  #reportAt(place: number): ReportDraft {
    this.#next = place + 1;
    return this.#reports[place] ?? this.#begin(place);
  }

  /** A container's first sample has come. */
  #begin(place: number): ReportDraft {
    const container = this.#likely[place] as ExpectedContainer;
    const report = emptyReport(container.name);
    const reports = this.#reportsByPod.get(container.pod);
    if (!reports) this.#count.add(this.#where);
    this.#count.add(this.#where);
    if (reports) reports.push(report);
    else this.#reportsByPod.set(container.pod, [report]);
    this.#found.push(container);
    this.#reports[place] = report;
    return report;
  }

  #newContainer(): ExpectedContainer {
    const { namespace, pod: podName, container } = this.#labels;
    const key = `${namespace}/${podName}`;
    const pods = this.#podsByKey();
    const pod = pods.get(key) ?? { namespace: this.#names.intern(namespace), name: podName };
    pods.set(key, pod);
    return { name: this.#names.intern(container), pod, isPlain: mayBeExpected(container, pod) };
  }

  #placesByKey(): Map<string, number> {
    this.#places ??= new Map(
      this.#likely.map(({ name, pod }, place) => [`${pod.namespace}/${pod.name}/${name}`, place]),
    );
    return this.#places;
  }

  #podsByKey(): Map<string, ExpectedPod> {
    this.#pods ??= new Map(this.#likely.map(({ pod }) => [`${pod.namespace}/${pod.name}`, pod]));
    return this.#pods;
  }

  get #where(): string {
    return ` by line ${this.#reader.lines}`;
  }
}

/** Nothing is known yet. */
export function emptyReport(name: string): ReportDraft {
  return {
    name,
    startedAtMs: undefined,
    takenAtMs: undefined,
    cpuCoreNanoseconds: undefined,
    memoryBytes: undefined,
  };
}
