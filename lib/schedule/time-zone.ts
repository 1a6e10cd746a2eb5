import { ScheduleError } from './schedule.ts';

/** A time during which a zone's clock is not changed. */
export interface ZoneSegment {
  /** Its first moment. */
  readonly startMs: number;
  /** The first moment after it. */
  readonly endMs: number;
  /** What is added to UTC. */
  readonly offsetMs: number;
  /**
   * The first civil time that the clock had not yet shown before this segment. Above the segment's first civil time, where
   * the clock was set back; below it, where it was set forward.
   */
  readonly previousMaxMs: number;
}

const DAY_MS = 86_400_000;
/** Changes of the clock lie further apart than this; Ramadan's, the closest, lie a month apart. */
const STEP_MS = 7 * DAY_MS;
/** What a year's segments look back for, as the clock may have been set back shortly before. */
const LEAD_MS = 2 * DAY_MS;
/** A zone's years that are kept. */
const MAX_YEARS = 32;
/** Zones that are kept: there are about 600. */
const MAX_ZONES = 1000;
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,3}$/;
const MAX_NAME_LENGTH = 64;
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

const zones = new Map<string, TimeZone>();

/** A zone of the IANA database, and when its clock is changed. */
export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #years = new Map<number, readonly ZoneSegment[]>();

  /** @throws ScheduleError when there is no such zone */
  constructor(name: string) {
    this.name = name;
    try {
      if (name.length > MAX_NAME_LENGTH || !NAME.test(name)) throw new RangeError('not the form of a name');
      this.#format = new Intl.DateTimeFormat('en-US', {
        timeZone: name,
        timeZoneName: 'longOffset',
        year: 'numeric',
      });
    } catch (cause) {
      const shown = JSON.stringify(name.slice(0, MAX_NAME_LENGTH));
      throw new ScheduleError(`time zone ${shown} is not in the IANA database`, { cause });
    }
  }

  /** The zone of a name, read once. @throws ScheduleError when there is no such zone */
  static named(name: string): TimeZone {
    const known = zones.get(name);
    if (known) return known;
    const zone = new TimeZone(name);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(name, zone);
    return zone;
  }

  /** What the clock on the wall shows at a moment. */
  civilMs(atMs: number): number {
    return atMs + this.segmentAt(atMs).offsetMs;
  }

  /** The segment that holds a moment; a segment never goes beyond a year. */
  segmentAt(atMs: number): ZoneSegment {
    const year = new Date(atMs).getUTCFullYear();
    const segments = this.#years.get(year) ?? this.#cacheYear(year, this.#findSegments(year));
    const segment = segments.find(({ endMs }) => atMs < endMs);
    if (!segment) throw new RangeError(`Cannot tell the time in ${this.name} at ${atMs}: no such moment`);
    return segment;
  }

  #cacheYear(year: number, segments: readonly ZoneSegment[]): readonly ZoneSegment[] {
    if (this.#years.size >= MAX_YEARS) this.#years.clear();
    this.#years.set(year, segments);
    return segments;
  }

  #findSegments(year: number): readonly ZoneSegment[] {
    const yearMs = Date.UTC(year);
    const untilMs = Date.UTC(year + 1);
    const segments: ZoneSegment[] = [];
    let startMs = yearMs - LEAD_MS;
    let previousMaxMs = startMs + this.#offsetAt(startMs);
    while (startMs < untilMs) {
      const offsetMs = this.#offsetAt(startMs);
      const endMs = this.#findChange(startMs, untilMs) ?? untilMs;
      if (startMs < yearMs) previousMaxMs = Math.max(previousMaxMs, Math.min(yearMs, endMs) + offsetMs);
      if (endMs > yearMs)
        segments.push({ startMs: Math.max(startMs, yearMs), endMs, offsetMs, previousMaxMs });
      previousMaxMs = Math.max(previousMaxMs, endMs + offsetMs);
      startMs = endMs;
    }
    return segments;
  }

  /** When the clock is next changed, if that is before the end given. */
  #findChange(startMs: number, untilMs: number): number | undefined {
    const offsetMs = this.#offsetAt(startMs);
    for (let beforeMs = startMs; beforeMs < untilMs; beforeMs += STEP_MS) {
      let afterMs = Math.min(beforeMs + STEP_MS, untilMs);
      if (this.#offsetAt(afterMs) === offsetMs) continue;
      let unchangedMs = beforeMs;
      while (afterMs - unchangedMs > 1000) {
        const middleMs = Math.floor((unchangedMs + afterMs) / 2000) * 1000;
        if (this.#offsetAt(middleMs) === offsetMs) unchangedMs = middleMs;
        else afterMs = middleMs;
      }
      return afterMs < untilMs ? afterMs : undefined;
    }
    return undefined;
  }

  #offsetAt(atMs: number): number {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(this.#format.format(atMs)) ?? [];
    const size = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -size : size;
  }
}
