import { type Interner, ownCopy } from '#lib/kubernetes/interner.ts';
import type { PodPoints } from '#lib/resource-metrics/batch/metrics-batch.ts';
import { type ContainerReport, completePod } from '#lib/resource-metrics/scrape/complete-pod.ts';
import { ContainerCount } from '#lib/resource-metrics/scrape/response-bounds.ts';
import type { SampleReader } from './sample-reader.ts';

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
  /** How its samples name it, where it was found last. */
  labels: string;
  /** The one whose sample came after its own. */
  next: ContainerDraft | undefined;
}

/**
 * The containers of an exposition. Kubelets sort samples by name and labels, so each series reports the same containers in the same
 * order: whose sample comes next is known from the series before, and its labels are compared rather than read.
 */
export class ExpositionContainers {
  readonly #reader: SampleReader;
  readonly #names: Interner<string>;
  readonly #pods = new Map<string, PodDraft>();
  readonly #count = new ContainerCount();
  readonly #labels = { namespace: '', pod: '', container: '' };
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
    labels.namespace = labels.pod = labels.container = '';
    const text = this.#reader.labels((name, value) => {
      if (name === 'namespace' || name === 'pod' || name === 'container') labels[name] = value;
    });
    if (text === undefined) return undefined;
    if (!labels.namespace || !labels.pod || !labels.container) return emptyReport('');
    const draft = this.#find();
    draft.labels = text;
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

  #find(): ContainerDraft {
    const { namespace, pod, container } = this.#labels;
    const key = `${namespace}/${pod}`;
    let podDraft = this.#pods.get(key);
    if (!podDraft) {
      this.#count.add(this.#where);
      podDraft = { namespace: this.#names.intern(namespace), name: ownCopy(pod), containers: new Map() };
      this.#pods.set(key, podDraft);
    }
    let draft = podDraft.containers.get(container);
    if (!draft) {
      this.#count.add(this.#where);
      draft = { report: emptyReport(this.#names.intern(container)), labels: '', next: undefined };
      podDraft.containers.set(container, draft);
    }
    return draft;
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
