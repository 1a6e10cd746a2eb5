import type { PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import { completePod, readAmount, readTimeMs } from '#lib/resource-metrics/scrape/decoding/complete-pod.ts';
import { emptyReport, type ReportDraft } from '#lib/resource-metrics/scrape/decoding/exposition-decoder.ts';

/** The expected result of decoding an exposition. */
interface PlainExposition {
  readonly node: ReportDraft;
  readonly pods: readonly PodPoints[];
  /** Number of invalid lines. */
  readonly ignored: number;
}

const SPACE = '[ \\t\\r]*';
const NAME = '[A-Za-z_:][\\w:]*';
const LABEL = `(${NAME})${SPACE}=${SPACE}"((?:\\\\.|[^"\\\\])*)"${SPACE}`;
const LABELS = `\\{${SPACE}(?:${LABEL}(?:,${SPACE}|(?=\\})))*\\}`;
const NUMBER = '[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?|NaN|[+-]?Inf';
const SAMPLE = new RegExp(`^(${LABELS})?[ \\t\\r]+(${NUMBER})(?:[ \\t\\r]+(-?\\d+))?${SPACE}$`, 's');

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

type Add = (report: ReportDraft, value: number, timestampMs: number) => void;

const SERIES: Readonly<Record<string, Add>> = {
  cpu_usage_seconds_total: (report, value, timestampMs) => {
    report.cpuCoreNanoseconds = readAmount(Math.round(value * 1e9));
    report.takenAtMs = readTimeMs(timestampMs);
  },
  memory_working_set_bytes: (report, value) => {
    report.memoryBytes = readAmount(value);
  },
  start_time_seconds: (report, value) => {
    report.startedAtMs = readTimeMs(value * 1000);
  },
};

/** Decodes an exposition with regular expressions; too slow for untrusted input. */
export function readPlainly(text: string, nodeName: string, unstampedAtMs: number): PlainExposition {
  const node = emptyReport(nodeName);
  const pods = new Map<string, { namespace: string; name: string; containers: Map<string, ReportDraft> }>();
  let ignored = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('#') || /^[ \t\r]*$/.test(line)) continue;
    const [name = ''] = new RegExp(`^${NAME}`).exec(line) ?? [];
    const [, about, series = ''] = /^(node|container)_(.*)$/.exec(name) ?? [];
    const isCounted = Object.hasOwn(SERIES, series) && !(about === 'node' && series === 'start_time_seconds');
    const rest = line.slice(name.length);
    const labels = labelsIn(new RegExp(`^${LABELS}`, 's').exec(rest)?.[0] ?? '');
    const isLong = labels.some(([, value]) => value.length > 1024);
    const sample = isLong ? null : SAMPLE.exec(rest);
    const isSample = name !== '' && ((!isCounted && name !== 'resource_scrape_error') || sample !== null);
    if (!isSample) ignored++;
    if (!isCounted) continue;
    // A sample with only the names of a container also adds it.
    const report = about === 'node' ? node : isLong ? undefined : reportOf(pods, labels);
    if (!sample) continue;
    const value = Number(sample[4]?.replace('Inf', 'Infinity'));
    const stampMs = sample[5] === undefined ? unstampedAtMs : Number(sample[5]);
    if (report) SERIES[series]?.(report, value, stampMs);
  }
  const podPoints = Array.from(pods.values(), ({ namespace, name, containers }) => {
    return { namespace, name, uid: undefined, ...completePod([...containers.values()]) };
  });
  return { node, pods: podPoints, ignored };
}

function reportOf(
  pods: Map<string, { namespace: string; name: string; containers: Map<string, ReportDraft> }>,
  labels: readonly (readonly [string, string])[],
): ReportDraft | undefined {
  const unescaped = (name: string) =>
    labels
      .findLast(([label]) => label === name)?.[1]
      .replace(/\\./gs, (escaped) => ESCAPES[escaped] ?? escaped);
  const [namespace, name, container] = ['namespace', 'pod', 'container'].map(unescaped);
  if (!namespace || !name || !container) return undefined;
  const key = `${namespace}/${name}`;
  const pod = pods.get(key) ?? { namespace, name, containers: new Map<string, ReportDraft>() };
  pods.set(key, pod);
  const report = pod.containers.get(container) ?? emptyReport(container);
  pod.containers.set(container, report);
  return report;
}

function labelsIn(text: string): [name: string, value: string][] {
  return Array.from(text.matchAll(new RegExp(LABEL, 'gs')), ([, name = '', value = '']) => [name, value]);
}
