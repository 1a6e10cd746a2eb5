import type { Interner } from '#lib/kubernetes/interner.ts';
import type { PodPoints } from '#lib/resource-metrics/batch/metrics-batch.ts';
import { type ContainerReport, completePod } from '#lib/resource-metrics/scrape/complete-pod.ts';
import { ContainerCount } from '#lib/resource-metrics/scrape/response-bounds.ts';
import type { SampleReader, Span } from './sample-reader.ts';

/** A report that is filled sample by sample. */
export type ReportDraft = { -readonly [Key in keyof ContainerReport]: ContainerReport[Key] };

/** What has been read of a pod so far. */
interface PodDraft {
  readonly namespace: string;
  readonly name: string;
  readonly containers: Map<string, ContainerDraft>;
}

interface ContainerDraft {
  readonly report: ReportDraft;
  /** Where the sample by which it was found names it. */
  labels: Span;
  /** The one whose sample came after its own. */
  next: ContainerDraft | undefined;
}

/** The labels that tell which container a sample is about. */
const NAMING_LABELS = ['namespace', 'pod', 'container'] as const;
type NamingLabel = (typeof NAMING_LABELS)[number];
const LABEL_BYTES: Readonly<Record<NamingLabel, Uint8Array>> = {
  namespace: Buffer.from('namespace'),
  pod: Buffer.from('pod'),
  container: Buffer.from('container'),
};

const NOWHERE: Span = { start: 0, end: 0 };

/**
 * The containers of an exposition. Kubelets sort samples by name and labels, so each series reports the same containers in the same
 * order: whose sample comes next is known from the series before, and its labels are compared rather than read.
 */
export class ExpositionContainers {
  readonly #reader: SampleReader;
  readonly #names: Interner<string>;
  readonly #pods = new Map<string, PodDraft>();
  readonly #count = new ContainerCount();
  readonly #labels: Record<NamingLabel, Span> = { namespace: NOWHERE, pod: NOWHERE, container: NOWHERE };
  #first: ContainerDraft | undefined;
  #latest: ContainerDraft | undefined;

  constructor(reader: SampleReader, names: Interner<string>) {
    this.#reader = reader;
    this.#names = names;
  }

  /**
   * Reads the labels of a sample.
   *
   * @returns the report of its container, of nobody's where it names none; `undefined` where they are malformed
   * @throws {ExcessiveResponse} when there are more containers than a node can have
   */
  report(): ReportDraft | undefined {
    const known = this.#skipKnown(this.#latest?.next) ?? this.#skipKnown(this.#first);
    if (known) {
      this.#latest = known;
      return known.report;
    }
    const labels = this.#labels;
    labels.namespace = labels.pod = labels.container = NOWHERE;
    const span = this.#reader.labels(this.#note);
    if (span === undefined) return undefined;
    if (isEmpty(labels.namespace) || isEmpty(labels.pod) || isEmpty(labels.container)) return emptyReport('');
    const draft = this.#find();
    draft.labels = span;
    if (this.#latest) this.#latest.next = draft;
    this.#first ??= draft;
    this.#latest = draft;
    return draft.report;
  }

  /** All pods, in the order of their first samples. */
  pods(): readonly PodPoints[] {
    return Array.from(this.#pods.values(), ({ namespace, name, containers }) => {
      const reports = Array.from(containers.values(), ({ report }) => report);
      return { namespace, name, uid: undefined, ...completePod(reports) };
    });
  }

  #skipKnown(likely: ContainerDraft | undefined): ContainerDraft | undefined {
    return likely && this.#reader.skip(likely.labels) ? likely : undefined;
  }

  readonly #note = (name: Span, value: Span): void => {
    for (const label of NAMING_LABELS)
      if (this.#reader.is(name, LABEL_BYTES[label])) this.#labels[label] = value;
  };

  #find(): ContainerDraft {
    const namespace = this.#reader.text(this.#labels.namespace);
    const pod = this.#reader.text(this.#labels.pod);
    const container = this.#reader.text(this.#labels.container);
    const key = `${namespace}/${pod}`;
    let podDraft = this.#pods.get(key);
    if (!podDraft) {
      this.#count.add(this.#where);
      podDraft = { namespace: this.#names.intern(namespace), name: pod, containers: new Map() };
      this.#pods.set(key, podDraft);
    }
    let draft = podDraft.containers.get(container);
    if (!draft) {
      this.#count.add(this.#where);
      draft = { report: emptyReport(this.#names.intern(container)), labels: NOWHERE, next: undefined };
      podDraft.containers.set(container, draft);
    }
    return draft;
  }

  get #where(): string {
    return ` by line ${this.#reader.lines}`;
  }
}

function isEmpty({ start, end }: Span): boolean {
  return start === end;
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
