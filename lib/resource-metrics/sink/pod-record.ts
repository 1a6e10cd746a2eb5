import type { PackedHistories } from './packed-histories.ts';
import type { PodUsage } from './snapshot.ts';
import type { MeasuredUsage, UsageHistory } from './usage-history.ts';

/** What a pod record is made of. */
export interface PodRecordParts {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** Whether the kubelet itself told the UID. */
  readonly isUidTold: boolean;
  readonly incompleteBecause: string | undefined;
  /** Of the pod's node, those of the pod's containers from `firstRow` on. */
  readonly histories: PackedHistories;
  readonly firstRow: number;
  readonly containerCount: number;
}

/** What is held of one pod: the readings of its containers and the usage that they amount to. Immutable. */
export class PodRecord {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** `undefined` where neither the kubelet nor the API server told it. */
  readonly uid: string | undefined;
  readonly isUidTold: boolean;
  /** Why the last response told no usage of the whole pod. */
  readonly incompleteBecause: string | undefined;
  readonly containerCount: number;
  /** `undefined` until every container's usage is known. */
  readonly usage: HeldUsage | undefined;
  readonly #histories: PackedHistories;
  readonly #firstRow: number;

  constructor(parts: PodRecordParts) {
    this.key = parts.key;
    this.namespace = parts.namespace;
    this.name = parts.name;
    this.uid = parts.uid;
    this.isUidTold = parts.isUidTold;
    this.incompleteBecause = parts.incompleteBecause;
    this.containerCount = parts.containerCount;
    this.#histories = parts.histories;
    this.#firstRow = parts.firstRow;
    this.usage = HeldUsage.of(this);
  }

  /** In the kubelet's order; no two have the same name. */
  get containers(): readonly UsageHistory[] {
    return this.#rows().map((row) => this.#histories.at(row));
  }

  /** Those of {@link containers} whose usage is known. */
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
   * What is held of a container; `undefined` where nothing is. Containers mostly come in the same order.
   *
   * @param rows of {@link rowsByName}, for who looks for many of them
   */
  historyOf(name: string, likelyIndex: number, rows?: ReadonlyMap<string, number>): UsageHistory | undefined {
    const likelyRow = this.#firstRow + likelyIndex;
    if (likelyIndex < this.containerCount && this.#histories.nameAt(likelyRow) === name)
      return this.#histories.at(likelyRow);
    const row = rows ? rows.get(name) : this.#rows().find((each) => this.#histories.nameAt(each) === name);
    return row === undefined ? undefined : this.#histories.at(row);
  }

  /** Where its containers are, so that each of many is found without a look at all others. */
  rowsByName(): ReadonlyMap<string, number> {
    return new Map(this.#rows().map((row) => [this.#histories.nameAt(row), row]));
  }

  /** Whether it has containers at all, and the usage of each is known. */
  get isMeasured(): boolean {
    const end = this.#firstRow + this.containerCount;
    for (let row = this.#firstRow; row < end; row++) if (!this.#histories.hasUsageAt(row)) return false;
    return this.containerCount > 0;
  }

  /** When the newest reading was taken of the container whose newest is the oldest. */
  get timestampMs(): number {
    return this.#histories.timestampAt(this.#earliestRow);
  }

  /** How long the window is of the same container. */
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

/** A pod's usage as its record holds it: objects are made of it only when somebody asks. Immutable. */
export class HeldUsage implements PodUsage {
  readonly #record: PodRecord;

  private constructor(record: PodRecord) {
    this.#record = record;
  }

  static of(record: PodRecord): HeldUsage | undefined {
    return record.incompleteBecause === undefined && record.isMeasured ? new HeldUsage(record) : undefined;
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

  get isUidTold(): boolean {
    return this.#record.isUidTold;
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
