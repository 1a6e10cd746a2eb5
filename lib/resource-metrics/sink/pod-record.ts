import type { PackedHistories } from './packed-histories.ts';
import type { MeasuredUsage, PodUsage } from './snapshot.ts';
import type { UsageHistory } from './usage-history.ts';

interface PodRecordParts {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** Whether the kubelet reported the UID. */
  readonly isUidReported: boolean;
  readonly incompleteBecause: string | undefined;
  /** Histories of the node; those of the pod start at `firstRow`. */
  readonly histories: PackedHistories;
  readonly firstRow: number;
  readonly containerCount: number;
}

/** The readings of a pod's containers, and their usage. Immutable. */
export class PodRecord {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** `undefined` if neither the kubelet nor the API server reported it. */
  readonly uid: string | undefined;
  readonly isUidReported: boolean;
  /** Why the last response was incomplete. */
  readonly incompleteBecause: string | undefined;
  readonly containerCount: number;
  /** `undefined` until the usage of every container is available. */
  readonly usage: PodRecordUsage | undefined;
  readonly #histories: PackedHistories;
  readonly #firstRow: number;

  constructor(parts: PodRecordParts) {
    this.key = parts.key;
    this.namespace = parts.namespace;
    this.name = parts.name;
    this.uid = parts.uid;
    this.isUidReported = parts.isUidReported;
    this.incompleteBecause = parts.incompleteBecause;
    this.containerCount = parts.containerCount;
    this.#histories = parts.histories;
    this.#firstRow = parts.firstRow;
    this.usage = PodRecordUsage.of(this);
  }

  /** In the kubelet's order, with unique names. */
  get containers(): readonly UsageHistory[] {
    return this.#rows().map((row) => this.#histories.at(row));
  }

  /** Of the {@link containers} whose usage is available. */
  get containerUsages(): readonly MeasuredUsage[] {
    const usages: MeasuredUsage[] = [];
    const end = this.#firstRow + this.containerCount;
    for (let row = this.#firstRow; row < end; row++) {
      const usage = this.#histories.usageAt(row);
      if (usage) usages.push(usage);
    }
    return usages;
  }

  /**
   * Finds the history of a container; `undefined` for a new one. Checks `likelyIndex` first, since the order rarely
   * changes.
   *
   * @param rows from {@link rowsByName}, for callers that search many containers
   */
  historyOf(name: string, likelyIndex: number, rows?: ReadonlyMap<string, number>): UsageHistory | undefined {
    const likelyRow = this.#firstRow + likelyIndex;
    if (likelyIndex < this.containerCount && this.#histories.nameAt(likelyRow) === name)
      return this.#histories.at(likelyRow);
    const row = rows ? rows.get(name) : this.#rows().find((each) => this.#histories.nameAt(each) === name);
    return row === undefined ? undefined : this.#histories.at(row);
  }

  /** Rows by container name. */
  rowsByName(): ReadonlyMap<string, number> {
    return new Map(this.#rows().map((row) => [this.#histories.nameAt(row), row]));
  }

  /** Whether it has containers, and the usage of each is available. */
  get isMeasured(): boolean {
    const end = this.#firstRow + this.containerCount;
    for (let row = this.#firstRow; row < end; row++) if (!this.#histories.hasUsageAt(row)) return false;
    return this.containerCount > 0;
  }

  /** The newest reading's time, of the container whose newest reading is oldest. */
  get timestampMs(): number {
    return this.#histories.timestampAt(this.#earliestRow);
  }

  /** The window of that container, in milliseconds. */
  get windowMs(): number {
    return this.#histories.windowAt(this.#earliestRow);
  }

  get #earliestRow(): number {
    const end = this.#firstRow + this.containerCount;
    let earliest = this.#firstRow;
    for (let row = earliest + 1; row < end; row++) {
      if (this.#histories.timestampAt(row) < this.#histories.timestampAt(earliest)) earliest = row;
    }
    return earliest;
  }

  #rows(): number[] {
    return Array.from({ length: this.containerCount }, (_, index) => this.#firstRow + index);
  }
}

/** A view of the usage in a {@link PodRecord}; objects are created on access. Immutable. */
export class PodRecordUsage implements PodUsage {
  readonly #record: PodRecord;

  private constructor(record: PodRecord) {
    this.#record = record;
  }

  static of(record: PodRecord): PodRecordUsage | undefined {
    return record.incompleteBecause === undefined && record.isMeasured
      ? new PodRecordUsage(record)
      : undefined;
  }

  get key(): string {
    return this.#record.key;
  }

  get namespace(): string {
    return this.#record.namespace;
  }

  get name(): string {
    return this.#record.name;
  }

  get uid(): string | undefined {
    return this.#record.uid;
  }

  get isUidReported(): boolean {
    return this.#record.isUidReported;
  }

  get timestampMs(): number {
    return this.#record.timestampMs;
  }

  get windowMs(): number {
    return this.#record.windowMs;
  }

  get containers(): readonly MeasuredUsage[] {
    return this.#record.containerUsages;
  }

  get containerCount(): number {
    return this.#record.containerCount;
  }
}
