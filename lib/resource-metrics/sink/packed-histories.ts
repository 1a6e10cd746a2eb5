import type { ExtraBytes } from '#lib/resource-metrics/metrics-batch.ts';
import type { ReadingResponse } from './reading-response.ts';
import type { CounterReading } from './sample-interval.ts';
import type { MeasuredUsage } from './snapshot.ts';
import type { UsageHistory } from './usage-history.ts';

/** Columns of a row, followed by its readings, newest first; those missing up to the longest row are NaN. */
const [STARTED_AT, WINDOW, CPU, MEMORY, READINGS] = [0, 1, 2, 3, 4];

/** A timestamp, a counter, and the position of the response. */
const NUMBERS_PER_READING = 3;

/**
 * The histories of a node's containers, stored as rows of numbers in one block. Immutable.
 *
 * Objects would take five times the memory, and the garbage collector would visit each of them every cycle. Missing
 * values are NaN.
 */
export class PackedHistories {
  readonly #numbers: Float64Array;
  readonly #width: number;
  readonly #names: readonly string[];
  /** Of all readings: usually the last two of the node. */
  readonly #responses: readonly ReadingResponse[];
  /** `undefined` without extra resources. */
  readonly #extras: readonly (ExtraBytes | undefined)[] | undefined;

  /** @param previous shares its names if they are equal */
  constructor(histories: readonly UsageHistory[], previous?: PackedHistories) {
    const maxReadings = histories.reduce((count, { readings }) => Math.max(count, readings.length), 0);
    this.#width = READINGS + maxReadings * NUMBERS_PER_READING;
    this.#numbers = new Float64Array(histories.length * this.#width);
    const responses = new ResponseList();
    histories.forEach((history, row) => {
      this.#write(history, row * this.#width, responses);
    });
    this.#responses = responses.list;
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
    const readings = new Array<CounterReading>(this.#countReadings(start)); // growing would allocate spare capacity
    let offset = start + READINGS;
    for (let index = readings.length - 1; index >= 0; index--) {
      const [takenAtMs, cpuCoreNanoseconds] = [this.#number(offset), this.#number(offset + 1)];
      const response = this.#responses[this.#number(offset + 2)] as ReadingResponse;
      readings[index] = { takenAtMs, cpuCoreNanoseconds, response };
      offset += NUMBERS_PER_READING;
    }
    const startedAtMs = this.#number(start + STARTED_AT);
    return {
      name: this.nameAt(row),
      readings,
      startedAtMs: Number.isNaN(startedAtMs) ? undefined : startedAtMs,
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
    return this.#number(row * this.#width + READINGS);
  }

  /** Length of the usage's window in milliseconds. */
  windowAt(row: number): number {
    return this.#number(row * this.#width + WINDOW);
  }

  #number(offset: number): number {
    return this.#numbers[offset] as number;
  }

  #countReadings(start: number): number {
    const end = start + this.#width;
    let offset = start + READINGS;
    while (offset < end && !Number.isNaN(this.#number(offset))) offset += NUMBERS_PER_READING;
    return (offset - start - READINGS) / NUMBERS_PER_READING;
  }

  #write({ readings, startedAtMs, usage }: UsageHistory, start: number, responses: ResponseList): void {
    const numbers = this.#numbers;
    numbers[start + STARTED_AT] = startedAtMs ?? Number.NaN;
    numbers[start + WINDOW] = usage?.windowMs ?? Number.NaN;
    numbers[start + CPU] = usage?.cpuNanocores ?? Number.NaN;
    numbers[start + MEMORY] = usage?.memoryBytes ?? Number.NaN;
    let offset = start + READINGS;
    for (let index = readings.length - 1; index >= 0; index--) {
      const { takenAtMs, cpuCoreNanoseconds, response } = readings[index] as CounterReading;
      numbers[offset++] = takenAtMs;
      numbers[offset++] = cpuCoreNanoseconds;
      numbers[offset++] = responses.add(response);
    }
    numbers.fill(Number.NaN, offset, start + this.#width);
  }
}

/** The distinct responses of a node's readings: few, unless samples are repeated for long. */
class ResponseList {
  readonly list: ReadingResponse[] = [];

  /** @returns the position */
  add(response: ReadingResponse): number {
    const position = this.list.lastIndexOf(response);
    return position < 0 ? this.list.push(response) - 1 : position;
  }
}
