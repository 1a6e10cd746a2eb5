import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import {
  configurePrometheus,
  formatConfiguration,
  type PrometheusConfiguration,
} from '#lib/prometheus-operator/configuration/prometheus-configuration.ts';
import type { Declared, SelectedKind } from '#lib/prometheus-operator/objects/declared-object.ts';
import { Refusal } from '#lib/prometheus-operator/objects/refusal.ts';
import { ObjectSet, readObjectType } from '#lib/prometheus-operator/selection/object-set.ts';
import {
  acceptedDeliberately,
  type DeliberateDifference,
  refusedDeliberately,
  writtenDifferently,
} from './deliberate-differences.ts';
import type { RecordedCase, RecordedStep } from './recorded-case.ts';

/** How the configurations of a case compare with the recorded ones. */
export interface ReplayedCase {
  readonly name: string;
  readonly outcome: 'agrees' | 'differs' | 'not built';
  /** Reasons of what differs deliberately; everything else of the case is equal. */
  readonly deliberate: readonly DeliberateDifference[];
  /** The first difference without a reason, or what is not built. */
  readonly why?: string;
}

/** Topics whose result is the configuration. Of other topics, only the configuration is compared. */
const BUILT_TOPICS: ReadonlySet<string> = new Set([
  ...['servicemonitor', 'podmonitor', 'probe', 'scrapeconfig', 'tls', 'scrape-classes'],
  ...['configuration', 'alerting', 'remote-write', 'remote-read', 'versions'],
  ...['selection', 'rejection', 'enforcement', 'sharding', 'crash'],
]);

/** Flags that restrict the objects that are read. */
const RESTRICTING_FLAG =
  /^--(namespaces|deny-namespaces|controller-id|.*-instance-(namespaces|selector)|disable-unmanaged-.*)=/;

/** Conditions of a Prometheus whose configuration was not written. */
const NOT_CONFIGURED =
  /^(creating config failed|failed to parse scrape classes|unsupported Prometheus version)/;
/** Conditions of a Prometheus that depend on objects that are not read. */
const NOT_READ = /^storage class /;

/** Something of a case that the program does not do yet. */
class NotBuilt extends Error {}
/** A difference without a reason. */
class Difference extends Error {}

/** Replays the steps of a case. Compared are the configurations as YAML, and which objects are refused; reasons are not. */
export function replayCase(recorded: RecordedCase): ReplayedCase {
  const { name } = recorded;
  const deliberate = new Set<DeliberateDifference>();
  try {
    compareCase(recorded, deliberate);
  } catch (error) {
    if (error instanceof NotBuilt) return { name, outcome: 'not built', deliberate: [], why: error.message };
    if (error instanceof Difference) return { name, outcome: 'differs', deliberate: [], why: error.message };
    throw error;
  }
  return { name, outcome: deliberate.size === 0 ? 'agrees' : 'differs', deliberate: [...deliberate] };
}

function compareCase(recorded: RecordedCase, deliberate: Set<DeliberateDifference>): void {
  const { topic, flags, steps, crashed } = recorded;
  const state: State = {
    objects: new Map(),
    files: new Map(),
    conditions: new Map(),
    refused: new Map(),
    deliberate,
  };
  if (!steps.some(({ apply }) => apply.some(({ kind }) => kind === 'Prometheus')))
    throw new NotBuilt('no Prometheus');
  if (flags.some((flag) => RESTRICTING_FLAG.test(flag))) throw new NotBuilt('flags that restrict objects');
  if (crashed !== undefined) {
    deliberate.add('crash');
    return;
  }
  for (const step of steps) {
    applyStep(step, state);
    compareStep(step, state);
  }
  if ([...state.refused.keys()].some((key) => key.startsWith('PrometheusRule/')))
    throw new NotBuilt('checks of rules');
  if (!BUILT_TOPICS.has(topic)) throw new NotBuilt(`topic ${topic}`);
}

/** The objects, and what was recorded, after a step. */
interface State {
  readonly objects: Map<string, RecordedStep['apply'][number]>;
  /** `prometheus.yaml` as it was last written, by namespace and name of the Prometheus. */
  readonly files: Map<string, string>;
  /** The condition Reconciled, by namespace and name of the Prometheus. */
  readonly conditions: Map<string, { readonly reason: string; readonly message: string }>;
  /** Why objects were refused in this step or an earlier one. */
  readonly refused: Map<string, string>;
  readonly deliberate: Set<DeliberateDifference>;
}

function applyStep(step: RecordedStep, { objects, files, conditions, refused }: State): void {
  for (const object of step.apply) {
    const { kind, metadata } = object;
    objects.set(`${kind}/${metadata.namespace ?? ''}/${metadata.name}`, object);
  }
  for (const { kind, namespace = '', name } of step.delete) objects.delete(`${kind}/${namespace}/${name}`);
  for (const [key, { data }] of Object.entries(step.result.objects)) {
    const [, namespace, name] = /^Secret\/([^/]+)\/prometheus-(.+)$/.exec(key) ?? [];
    const file = data?.['prometheus.yaml'];
    if (file !== undefined) files.set(`${namespace}/${name}`, file);
  }
  for (const [key, { status }] of Object.entries(step.result.status)) {
    const [, prometheus] = /^Prometheus\/(.+)$/.exec(key) ?? [];
    const reconciled = status?.conditions?.find(({ type }) => type === 'Reconciled');
    if (prometheus === undefined || reconciled === undefined) continue;
    const { reason = '', message = '' } = reconciled;
    conditions.set(prometheus, { reason, message });
  }
  for (const { regarding, reason, note } of step.result.events)
    if (reason === 'InvalidConfiguration') refused.set(regarding, note);
}

/** @throws {Difference} for one without a reason */
function compareStep(step: RecordedStep, state: State): void {
  const set = readSet(state);
  const ours = new Set<string>();
  for (const prometheus of set.ofKind('Prometheus')) {
    if (prometheus.spec.paused) continue;
    for (const refused of comparePrometheus(prometheus, set, state)) ours.add(refused);
  }
  for (const { regarding, reason, note } of step.result.events) {
    if (reason !== 'InvalidConfiguration' || ours.has(regarding) || regarding.startsWith('PrometheusRule/'))
      continue;
    if (acceptedDeliberately(note) === undefined)
      throw new Difference(`${regarding} is not refused: ${note}`);
  }
}

function readSet({ objects }: State): ObjectSet {
  const set = new ObjectSet('default');
  for (const [key, object] of objects) {
    const type = readObjectType(object);
    try {
      if (type !== undefined) set.add(object, type);
    } catch (error) {
      throw new Difference(`cannot read ${key}: ${(error as Error).message}`);
    }
  }
  return set;
}

/** @returns the objects that we refuse */
function comparePrometheus(
  prometheus: Declared<'Prometheus'>,
  set: ObjectSet,
  state: State,
): readonly string[] {
  const key = `${prometheus.namespace}/${prometheus.name}`;
  const { reason, message } = state.conditions.get(key) ?? { reason: '', message: '' };
  if (NOT_READ.test(message)) throw new NotBuilt('what depends on a StorageClass');
  const ours = configure(prometheus, set);
  const file = NOT_CONFIGURED.test(message) ? undefined : state.files.get(key);
  if (ours instanceof Refusal) {
    if (file !== undefined)
      explain(refusedDeliberately(ours.message), `${key} is refused: ${ours.message}`, state);
    return [];
  }
  if (file === undefined) throw new Difference(`${key} is not refused: ${message}`);
  if (ours.refused.some((one) => one.reason.endsWith('SDConfigs: not supported')))
    throw new NotBuilt('discoveries of clouds');
  const isUnmanaged = reason === 'ConfigurationUnmanaged';
  if ((ours.file === undefined) !== isUnmanaged) throw new Difference(`${key} is unmanaged or is not`);
  if (ours.file !== undefined) compareFiles(ours, parse(file), { prometheus, set, state });
  return ours.refused.map(({ object }) => keyOf(object));
}

function configure(prometheus: Declared<'Prometheus'>, set: ObjectSet): PrometheusConfiguration | Refusal {
  try {
    return configurePrometheus(prometheus, set, { assumesReferences: false });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

interface Compared {
  readonly prometheus: Declared<'Prometheus'>;
  readonly set: ObjectSet;
  readonly state: State;
}

/** Compares configurations without the jobs of objects that differ deliberately. */
function compareFiles(ours: PrometheusConfiguration, theirs: unknown, compared: Compared): void {
  const { state } = compared;
  const refused = new Map(ours.refused.map((one) => [keyOf(one.object), one.reason]));
  const jobs = [jobNames(parse(formatConfiguration(ours.file ?? {}))), jobNames(theirs)];
  const excluded: string[] = [];
  for (const object of selectedIn(compared)) {
    const key = keyOf(object);
    const prefix = jobPrefix(object);
    const [isOurs, isTheirs] = jobs.map((names) => names.some((name) => isJobOf(name, prefix)));
    if (!isOurs && !isTheirs && refused.has(key) && !state.refused.has(key))
      throw new Difference(`${key} is refused: ${refused.get(key)}`);
    if (isOurs === isTheirs) {
      const difference = isOurs && writtenDifferently(object, compared.prometheus);
      if (!difference) continue;
      state.deliberate.add(difference);
    } else if (isTheirs) {
      const reason = refused.get(key) ?? '';
      explain(refusedDeliberately(reason), `${key} is refused: ${reason}`, state);
    } else {
      const note = state.refused.get(key) ?? '';
      explain(acceptedDeliberately(note), `${key} is not refused: ${note}`, state);
    }
    excluded.push(prefix);
  }
  const found = firstDifference(
    withoutJobs(parse(formatConfiguration(ours.file ?? {})), excluded),
    withoutJobs(theirs, excluded),
    '',
  );
  if (found !== undefined) throw new Difference(found);
}

function explain(reason: DeliberateDifference | undefined, difference: string, { deliberate }: State): void {
  if (reason === undefined) throw new Difference(difference);
  deliberate.add(reason);
}

function selectedIn({ set }: Compared): readonly Declared<SelectedKind>[] {
  const kinds: readonly SelectedKind[] = ['ServiceMonitor', 'PodMonitor', 'Probe', 'ScrapeConfig'];
  return kinds.flatMap((kind) => set.ofKind(kind));
}

function jobPrefix({ kind, namespace, name }: Declared<SelectedKind>): string {
  return `${kind[0]?.toLowerCase()}${kind.slice(1)}/${namespace}/${name}`;
}

function isJobOf(job: string, prefix: string): boolean {
  return job === prefix || job.startsWith(`${prefix}/`);
}

function jobNames(file: unknown): readonly string[] {
  const { scrape_configs: jobs } = file as {
    readonly scrape_configs?: readonly { readonly job_name: string }[];
  };
  return (jobs ?? []).map(({ job_name: name }) => name);
}

function withoutJobs(file: unknown, prefixes: readonly string[]): unknown {
  const { scrape_configs: jobs, ...others } = file as {
    readonly scrape_configs?: readonly { readonly job_name: string }[];
  };
  const compared = jobs?.filter(({ job_name: name }) => !prefixes.some((prefix) => isJobOf(name, prefix)));
  return { ...others, scrape_configs: compared };
}

function keyOf({ kind, namespace, name }: Declared<SelectedKind>): string {
  return `${kind}/${namespace}/${name}`;
}

/** The path of the first value that differs, and both values. */
function firstDifference(ours: unknown, theirs: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(ours, theirs)) return undefined;
  if (typeof ours !== 'object' || typeof theirs !== 'object' || ours === null || theirs === null)
    return `${path} is ${JSON.stringify(ours)}, recorded ${JSON.stringify(theirs)}`;
  const [one, other] = [new Map(Object.entries(ours)), new Map(Object.entries(theirs))];
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    const found = firstDifference(one.get(key), other.get(key), `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return `${path} differs`;
}
