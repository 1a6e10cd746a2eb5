import { WATCH_LAG_MS } from './day-of-events.ts';
import type { PodLife } from './socketless-cluster.ts';
import type { SocketlessNode } from './socketless-node.ts';

/** Older samples are not served. */
const OLDEST_SAMPLE_MS = 30_000;

/** Maximum time between two readings of one rate. */
const MAX_GAP_MS = 300_000;

/** The time of a node's last response, and of the one before. */
export interface ResponseTimes {
  readonly lastMs: number;
  /** When the kubelet read the counters of its last response. */
  readonly checkedAtMs: number;
  readonly previousMs: number | undefined;
  /** Number of scrapes that failed since. */
  readonly lostScrapes: number;
  /** Of the last scrape. */
  readonly durationMs: number;
  /** Whether the last two scrapes responded quickly, without a lost scrape between them. */
  readonly isOnTime: boolean;
}

/** One lost scrape is bridged; two are not. */
export const MAX_BRIDGED_CYCLES = 1;

/** Legitimate reasons for a live object without metrics. */
export const ABSENCES = {
  unreachable: 'More than one scrape of its node was lost since the last response',
  unreported: 'Its kubelet had not reported it, or one of its running containers',
  young: 'A container was less than 10 s old when it was sampled',
  close: 'A container was first sampled less than 10 s ago, because one of two responses was slow',
  unused: 'A container was first sampled when it started, and had used no CPU yet',
  unannounced: 'Its kubelet, which reports no UIDs, reported it before the API server did',
  unknown: 'Its node was read only once, or again after 5 minutes or more',
  stepped: "Its node's clock was stepped between two readings",
  rebooted: 'Its node was booted between two readings',
  unsampled: 'Its kubelet had not sampled it again',
} as const;

export type Absence = keyof typeof ABSENCES;

/** cAdvisor samples every 10 to 20 s. */
const MAX_SAMPLING_MS = 20_000;
const YOUNGEST_MS = 10_000;
/** By then, a container has used some CPU. */
const FIRST_CPU_MS = 1000;
/** Whole-second timestamps shorten an age by up to a second; samples of a container runtime are milliseconds old. */
const STAMP_MS = 1010;

/** @returns `undefined` if there is no legitimate reason */
export function absenceOfPod(life: PodLife, times: ResponseTimes | undefined): Absence | undefined {
  const { node, running } = life;
  const general = absenceOfNode(node, times);
  if (general === 'unreachable' || !times) return general;
  const { checkedAtMs } = times;
  const reported = running.containers.filter((each) => each.isRunning(checkedAtMs));
  if (running.startedAtMs >= checkedAtMs || reported.length === 0) return 'unreported';
  const samplingMs = node.runtime === 'cadvisor' ? MAX_SAMPLING_MS : 0;
  const youngestMs = Math.min(...reported.map((each) => checkedAtMs - each.startedAtMs(checkedAtMs)));
  if (youngestMs < YOUNGEST_MS + STAMP_MS + samplingMs) return 'young';
  const { previousMs = times.lastMs } = times;
  const firstAgeMs = youngestMs - (times.lastMs - previousMs);
  if (firstAgeMs < Math.max(samplingMs, FIRST_CPU_MS)) return 'unused';
  if (firstAgeMs < WATCH_LAG_MS && node.endpoint === 'resource') return 'unannounced';
  if (general === 'unsampled' && samplingMs > 0) return general;
  if (general !== undefined && general !== 'unsampled') return general;
  return isReadTwiceClosely(life) ? 'close' : undefined;
}

/** Whether a container was read twice within 10 s, and not before. */
function isReadTwiceClosely({ node, running }: PodLife): boolean {
  const [before = Number.NEGATIVE_INFINITY, previous = 0, last = 0] = node.readAtMs.slice(-3);
  const isNew = running.containers.some((each) => each.startedAtMs(last) > before);
  return isNew && last - previous < YOUNGEST_MS;
}

/** @returns `undefined` if there is no legitimate reason */
export function absenceOfNode(
  { clock, machine }: SocketlessNode,
  times: ResponseTimes | undefined,
): Absence | undefined {
  if (!times || times.lostScrapes > MAX_BRIDGED_CYCLES) return 'unreachable';
  const { lastMs, previousMs } = times;
  if (previousMs === undefined || lastMs - previousMs > MAX_GAP_MS) return 'unknown';
  const sinceMs = previousMs - OLDEST_SAMPLE_MS;
  if (machine.bootedAtMs > sinceMs) return 'rebooted';
  const isSteppedSince = clock.settings.some(
    (setting) => setting.sinceMs > sinceMs && setting.sinceMs <= lastMs,
  );
  if (isSteppedSince) return 'stepped';
  return lastMs - previousMs < MAX_SAMPLING_MS ? 'unsampled' : undefined;
}
