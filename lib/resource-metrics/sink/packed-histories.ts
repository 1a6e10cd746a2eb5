import type { ExtraBytes } from '#lib/resource-metrics/metrics-batch.ts';
import type { MeasuredUsage } from './snapshot.ts';
import type { CounterReading, UsageHistory } from './usage-history.ts';

/** Columns of a row, followed by its readings, oldest first, and space up to the longest row. */
const [STARTED_AT, REQUESTED_AT, RECEIVED_AT, WINDOW, CPU, MEMORY, COUNT, READINGS] = [
  0, 1, 2, 3, 4, 5, 6, 7,
];

/** A timestamp and a counter. */
const NUMBERS_PER_READING = 2;

/**
 * The histories of a node's containers, stored as rows of numbers in one block. Immutable.
 *
 * Objects would take three times the memory, and the garbage collector would visit each of them every cycle. Missing
 * values are NaN.
 */
export class PackedHistories {
  readonly #numbers: Float64Array;
  readonly #width: number;
  readonly #names: readonly string[];
  /** `undefined` without extra resources. */
  readonly #extras: readonly (ExtraBytes | undefined)[] | undefined;

  /** @param previous shares its names if they are equal */
  constructor(histories: readonly UsageHistory[], previous?: PackedHistories) {
    const maxReadings = histories.reduce((count, { readings }) => Math.max(count, readings.length), 0);
    this.#width = READINGS + maxReadings * NUMBERS_PER_READING;
    this.#numbers = new Float64Array(histories.length * this.#width);
    histories.forEach((history, row) => {
      this.#write(history, row * this.#width);
    });
    this.#names = previous?.sameNames(histories) ?? histories.map(({ name }) => name);
    this.#extras = histories.some(({ usage }) => usage?.extraBytes)
      ? histories.map(({ usage }) => usage?.extraBytes)
      : undefined;
  }

  /** @returns the names of the rows, if they equal those of the histories */
  sameNames(histories: readonly UsageHistory[]): readonly string[] | undefined {
    const isSame =
      this.#names.length === histories.length &&
      histories.every(({ name }, row) => this.#names[row] === name);
    return isSame ? this.#names : undefined;
  }

  at(row: number): UsageHistory {
    const start = row * this.#width;
    const readings = new Array<CounterReading>(this.#number(start + COUNT)); // growing would allocate spare capacity
    for (let index = 0; index < readings.length; index++) {
      const offset = start + READINGS + index * NUMBERS_PER_READING;
      const [takenAtMs, cpuCoreNanoseconds] = [this.#number(offset), this.#number(offset + 1)];
      readings[index] = { takenAtMs, cpuCoreNanoseconds };
    }
    const startedAtMs = this.#number(start + STARTED_AT);
    return {
      name: this.nameAt(row),
      readings,
      startedAtMs: Number.isNaN(startedAtMs) ? undefined : startedAtMs,
      context: {
        requestedAtMs: this.#number(start + REQUESTED_AT),
        receivedAtMs: this.#number(start + RECEIVED_AT),
      },
      usage: this.usageAt(row),
    };
  }

  nameAt(row: number): string {
    return this.#names[row] as string;
  }

  /** `undefined` if the readings do not suffice. */
  usageAt(row: number): MeasuredUsage | undefined {
    if (!this.hasUsageAt(row)) return undefined;
    const start = row * this.#width;
    const usage: MeasuredUsage = {
      name: this.nameAt(row),
      timestampMs: this.timestampAt(row),
      windowMs: this.windowAt(row),
      cpuNanocores: this.#number(start + CPU),
      memoryBytes: this.#number(start + MEMORY),
    };
    const extraBytes = this.#extras?.[row];
    return extraBytes ? { ...usage, extraBytes } : usage;
  }

  hasUsageAt(row: number): boolean {
    return !Number.isNaN(this.#number(row * this.#width + CPU));
  }

  /** Time of the newest reading, which is the end of the usage's window. */
  timestampAt(row: number): number {
    const start = row * this.#width;
    return this.#number(start + READINGS + (this.#number(start + COUNT) - 1) * NUMBERS_PER_READING);
  }

  /** Length of the usage's window in milliseconds. */
  windowAt(row: number): number {
    return this.#number(row * this.#width + WINDOW);
  }

  #number(offset: number): number {
    return this.#numbers[offset] as number;
  }

  #write({ readings, startedAtMs, context, usage }: UsageHistory, start: number): void {
    const numbers = this.#numbers;
    numbers[start + STARTED_AT] = startedAtMs ?? Number.NaN;
    numbers[start + REQUESTED_AT] = context.requestedAtMs;
    numbers[start + RECEIVED_AT] = context.receivedAtMs;
    numbers[start + WINDOW] = usage?.windowMs ?? Number.NaN;
    numbers[start + CPU] = usage?.cpuNanocores ?? Number.NaN;
    numbers[start + MEMORY] = usage?.memoryBytes ?? Number.NaN;
    numbers[start + COUNT] = readings.length;
    let offset = start + READINGS;
    for (const { takenAtMs, cpuCoreNanoseconds } of readings) {
      numbers[offset++] = takenAtMs;
      numbers[offset++] = cpuCoreNanoseconds;
    }
  }
}
