import type { LogFields, Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { ScrapeError } from './scrape-error.ts';
import type { ScrapeOutcome } from './scraper.ts';

const HOUR_MS = 3_600_000;

/** Of one node in an hour: enough for a failure that comes, changes, and goes. */
const LINES_AN_HOUR = 6;

/** The {@link ScrapeError.kind} of a scrape that succeeded. */
const NONE = '';

interface NodeState {
  /** The kind of failure of the latest scrape. */
  kind: string;
  /** What the log says it is. */
  loggedKind: string;
  loggedAtMs: number;
  failingSinceMs: number;
  failedForMs: number;
  /** Whether the latest response could not be read completely. */
  isPartial: boolean;
  /** When the hour began of which the lines are counted. */
  hourSinceMs: number;
  lines: number;
  /** Changes that no line reports, since the last line. */
  notLogged: number;
}

/**
 * Logs when a node's scrapes begin to fail, when the cause changes, hourly while they do, and when they succeed again;
 * of a node that changes on and on a few lines an hour, and how many changes it does not report.
 */
export class ScrapeFailureLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #states = new Map<string, NodeState>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  record({ nodeName, error, ignored }: ScrapeOutcome): void {
    const isFine = !error && ignored.length === 0;
    const state = this.#states.get(nodeName);
    const nowMs = this.#clock.monotonicMs();
    if (!state && isFine) return;
    const next = state ?? newState(nowMs);
    if (nowMs - next.hourSinceMs >= HOUR_MS) Object.assign(next, { hourSinceMs: nowMs, lines: 0 });
    this.#recordError(nodeName, error, { state: next, nowMs });
    if (!error) this.#recordIgnored(nodeName, ignored, { state: next, nowMs });
    const isSettled = isFine && next.loggedKind === NONE && next.lines === 0 && next.notLogged === 0;
    if (isSettled) this.#states.delete(nodeName);
    else this.#states.set(nodeName, next);
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#states.keys()) if (!isLive(nodeName)) this.#states.delete(nodeName);
  }

  #recordError(nodeName: string, error: ScrapeError | undefined, { state, nowMs }: At): void {
    const kind = error?.kind ?? NONE;
    const hasChanged = kind !== state.kind;
    if (state.kind === NONE && hasChanged) state.failingSinceMs = nowMs;
    if (kind === NONE && hasChanged) state.failedForMs = nowMs - state.failingSinceMs;
    state.kind = kind;
    const isReminderDue = kind !== NONE && nowMs - state.loggedAtMs >= HOUR_MS;
    if (kind === state.loggedKind && !isReminderDue) {
      if (hasChanged) state.notLogged++;
      return;
    }
    const isNew = state.loggedKind === NONE && nowMs === state.failingSinceMs;
    const line = this.#lineFor(state, hasChanged);
    if (!line) return;
    Object.assign(state, { loggedKind: kind, loggedAtMs: nowMs });
    if (error) {
      const { message, address } = error;
      const failingFor = isNew ? {} : { failingFor: inSeconds(nowMs - state.failingSinceMs) };
      this.#logger.error(message, undefined, { node: nodeName, address, ...failingFor, ...line });
    } else {
      const failedFor = inSeconds(state.failedForMs);
      this.#logger.info('Node is scraped again', { node: nodeName, failedFor, ...line });
    }
  }

  #recordIgnored(nodeName: string, [first, ...others]: readonly string[], { state }: At): void {
    const hasBegun = first !== undefined && !state.isPartial;
    state.isPartial = first !== undefined;
    const line = hasBegun ? this.#lineFor(state, true) : undefined;
    if (!line) return;
    this.#logger.warning("Left out what cannot be read of a kubelet's response", {
      node: nodeName,
      what: first,
      others: others.length,
      ...line,
    });
  }

  /** @returns what a line is to say beside; `undefined` when the node has had its lines of this hour */
  #lineFor(state: NodeState, hasChanged: boolean): LogFields | undefined {
    if (state.lines >= LINES_AN_HOUR) {
      if (hasChanged) state.notLogged++;
      return undefined;
    }
    state.lines++;
    const { notLogged } = state;
    state.notLogged = 0;
    return notLogged > 0 ? { changesNotLogged: notLogged } : {};
  }
}

interface At {
  readonly state: NodeState;
  readonly nowMs: number;
}

function newState(nowMs: number): NodeState {
  return {
    kind: NONE,
    loggedKind: NONE,
    loggedAtMs: nowMs,
    failingSinceMs: nowMs,
    failedForMs: 0,
    isPartial: false,
    hourSinceMs: nowMs,
    lines: 0,
    notLogged: 0,
  };
}

function inSeconds(durationMs: number): string {
  return formatDuration(Math.round(durationMs / 1000) * 1000);
}
