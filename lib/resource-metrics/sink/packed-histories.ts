import type { ExtraBytes } from '#lib/resource-metrics/metrics-batch.ts';
import type { CounterReading, MeasuredUsage, UsageHistory } from './usage-history.ts';

/** What a row says of a history; after these come its readings, oldest first, and space for as many as any row has. */
const [STARTED_AT, ASKED_AT, RECEIVED_AT, WINDOW, CPU, MEMORY, COUNT, READINGS] = [0, 1, 2, 3, 4, 5, 6, 7];

/** Each a stamp and a counter. */
const NUMBERS_PER_READING = 2;

/**
 * The histories of a node's containers as rows of numbers in one block. Immutable.
 *
 * As objects they would take three times as much, and the collector would have to look at each of them in turn: they
 * live for a cycle, as nearly nothing else does. What is not known is NaN.
 */
export class PackedHistories {
  readonly #numbers: Float64Array;
  readonly #width: number;
  readonly #names: readonly string[];
  /** Where anything beside CPU and memory was asked for. */
  readonly #extras: readonly (ExtraBytes | undefined)[] | undefined;

  /** @param previous whose names are held again, where they are the same */
  constructor(histories: readonly UsageHistory[], previous?: PackedHistories) {
    const most = histories.reduce((count, { readings }) => Math.max(count, readings.length), 0);
    this.#width = READINGS + most * NUMBERS_PER_READING;
    this.#numbers = new Float64Array(histories.length * this.#width);
    histories.forEach((history, row) => {
      this.#write(history, row * this.#width);
    });
    this.#names = previous?.sameNames(histories) ?? histories.map(({ name }) => name);
    this.#extras = histories.some(({ usage }) => usage?.extraBytes)
      ? histories.map(({ usage }) => usage?.extraBytes)
      : undefined;
  }

  /** The names of the rows, where those are to have the same, in the same order. */
  sameNames(histories: readonly UsageHistory[]): readonly string[] | undefined {
    const isSame =
      this.#names.length === histories.length &&
      histories.every(({ name }, row) => this.#names[row] === name);
    return isSame ? this.#names : undefined;
  }

  /** The history of a row, as it was given. */
  at(row: number): UsageHistory {
    const start = row * this.#width;
    const readings = new Array<CounterReading>(this.#number(start + COUNT)); // one that grows takes space for many more
    for (let index = 0; index < readings.length; index++) {
      const place = start + READINGS + index * NUMBERS_PER_READING;
      const [takenAtMs, cpuCoreNanoseconds] = [this.#number(place), this.#number(place + 1)];
      readings[index] = { takenAtMs, cpuCoreNanoseconds };
    }
    const startedAtMs = this.#number(start + STARTED_AT);
    return {
      name: this.nameAt(row),
      readings,
      startedAtMs: Number.isNaN(startedAtMs) ? undefined : startedAtMs,
      context: {
        requestedAtMs: this.#number(start + ASKED_AT),
        receivedAtMs: this.#number(start + RECEIVED_AT),
      },
      usage: this.usageAt(row),
    };
  }

  nameAt(row: number): string {
    return this.#names[row] as string;
  }

  /** What a row's readings amount to; `undefined` until they suffice. */
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

  /** When the newest reading was taken, which is when a usage's window ends. */
  timestampAt(row: number): number {
    const start = row * this.#width;
    return this.#number(start + READINGS + (this.#number(start + COUNT) - 1) * NUMBERS_PER_READING);
  }

  /** How long a usage's window is. */
  windowAt(row: number): number {
    return this.#number(row * this.#width + WINDOW);
  }

  #number(place: number): number {
    return this.#numbers[place] as number;
  }

  #write({ readings, startedAtMs, context, usage }: UsageHistory, start: number): void {
    const numbers = this.#numbers;
    numbers[start + STARTED_AT] = startedAtMs ?? Number.NaN;
    numbers[start + ASKED_AT] = context.requestedAtMs;
    numbers[start + RECEIVED_AT] = context.receivedAtMs;
    numbers[start + WINDOW] = usage?.windowMs ?? Number.NaN;
    numbers[start + CPU] = usage?.cpuNanocores ?? Number.NaN;
    numbers[start + MEMORY] = usage?.memoryBytes ?? Number.NaN;
    numbers[start + COUNT] = readings.length;
    let place = start + READINGS;
    for (const { takenAtMs, cpuCoreNanoseconds } of readings) {
      numbers[place++] = takenAtMs;
      numbers[place++] = cpuCoreNanoseconds;
    }
  }
}
