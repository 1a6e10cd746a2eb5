import { ScheduleError } from './schedule.ts';

/** A period with a constant offset. */
export interface ZoneSegment {
  /** Inclusive. */
  readonly startMs: number;
  /** Exclusive. */
  readonly endMs: number;
  /** Added to UTC. */
  readonly offsetMs: number;
  /**
   * The first civil time that the clock had not shown before this segment: above the first civil time of the segment if
   * the clock was set back, below it if the clock was set forward.
   */
  readonly previousMaxMs: number;
}

const DAY_MS = 86_400_000;
/** Clock changes are further apart than this; the closest ones, for Ramadan, are a month apart. */
const STEP_MS = 7 * DAY_MS;
/** Time before a year that its segments consider, since the clock may have been set back shortly before. */
const LEAD_MS = 2 * DAY_MS;
/** Cached years per zone. */
const MAX_YEARS = 32;
/** Cached zones; there are about 600. */
const MAX_ZONES = 1000;
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,3}$/;
const MAX_NAME_LENGTH = 64;
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

const zones = new Map<string, TimeZone>();

/** A zone of the IANA database with its clock changes. */
export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #years = new Map<number, readonly ZoneSegment[]>();

  /** @throws ScheduleError if the zone does not exist */
  constructor(name: string) {
    this.name = name;
    try {
      if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
        throw new RangeError('not a valid time zone name');
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

  /**
   * Returns the zone of a name in any case, from a cache: a zone takes 40 kB and, with its years, a millisecond.
   *
   * @throws ScheduleError if the zone does not exist
   */
  static named(name: string): TimeZone {
    const key = name.toLowerCase();
    const cached = zones.get(key);
    if (cached) return cached;
    const zone = new TimeZone(name);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(key, zone);
    return zone;
  }

  /** Returns what a local clock shows, in milliseconds since 1970 as if it showed UTC. */
  civilMs(atMs: number): number {
    return atMs + this.segmentAt(atMs).offsetMs;
  }

  /** Returns the segment that contains a time. Segments end at the end of a UTC year. */
  segmentAt(atMs: number): ZoneSegment {
    const year = new Date(atMs).getUTCFullYear();
    const segments = this.#years.get(year) ?? this.#cacheYear(year, this.#findSegments(year));
    const segment = segments.find(({ endMs }) => atMs < endMs);
    if (!segment) throw new RangeError(`Cannot compute the time in ${this.name} at ${atMs} ms: out of range`);
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

  /** Finds the next clock change before `untilMs`. */
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
