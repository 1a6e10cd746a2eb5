import { stringify } from 'yaml';
import type { Declared, SelectedKind } from '../objects/declared-object.ts';
import { Refusal, refuse, within } from '../objects/refusal.ts';
import type { ObjectSet } from '../selection/object-set.ts';
import { References } from '../selection/references.ts';
import { isUnmanaged, selectObjects } from '../selection/select-objects.ts';
import { readAdditional } from './additional-configuration.ts';
import { writeAlerting } from './alerting.ts';
import { type Block, block } from './block.ts';
import { type CheckedScrapeClass, type ConfigurationContext, shardsOf } from './configuration-context.ts';
import { writeAuthorization, writeTls } from './credentials.ts';
import { writeGlobal, writeOtlp, writeServerSettings, writeTracing } from './global-settings.ts';
import { podMonitorJobs, serviceMonitorJobs } from './jobs/monitor-jobs.ts';
import { probeJob } from './jobs/probe-job.ts';
import { scrapeConfigJob } from './jobs/scrape-config-job.ts';
import { PrometheusVersion } from './prometheus-version.ts';
import { shardingRelabelings, writeRelabelings } from './relabelings.ts';
import { writeRemoteRead, writeRemoteWrite } from './remote-storage.ts';
import { omitUnsupported } from './version-gates.ts';

/** The configuration of a Prometheus, and what is left out of it. */
export interface PrometheusConfiguration {
  /** The content of `prometheus.yaml`; `undefined` if the Prometheus selects nothing, so that its user writes the file. */
  readonly file: Block | undefined;
  /** Selected objects that are left out. */
  readonly refused: readonly RefusedObject[];
  /** Fields that the version of Prometheus does not have, as in `scrape_configs.enable_http2`. */
  readonly omittedFields: readonly string[];
}

/** An object that is left out of a configuration. */
export interface RefusedObject {
  readonly object: Declared<SelectedKind>;
  readonly reason: string;
}

interface ConfigurationOptions {
  /** Whether Secrets and ConfigMaps that are not in the set count as present, with placeholders for their values. */
  readonly assumesReferences: boolean;
}

/**
 * Makes the configuration of a Prometheus. An object that Prometheus would refuse is left out, and the others are written.
 *
 * @throws {Refusal} if the Prometheus object itself cannot have a configuration
 */
export function configurePrometheus(
  prometheus: Declared<'Prometheus'>,
  objects: ObjectSet,
  { assumesReferences }: ConfigurationOptions,
): PrometheusConfiguration {
  const context = createContext(prometheus, (namespace) => {
    return new References(objects, namespace, { assumesPresent: assumesReferences });
  });
  if (isUnmanaged(prometheus)) return { file: undefined, refused: [], omittedFields: [] };
  const { version } = context;
  const refused: RefusedObject[] = [];
  const jobsOf = <Kind extends SelectedKind>(
    kind: Kind,
    write: (object: Declared<Kind>, context: ConfigurationContext) => readonly Block[],
  ): readonly Block[] =>
    selectObjects(kind, prometheus, objects).flatMap((object) => {
      try {
        return write(object, context);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused.push({ object, reason: error.message });
        return [];
      }
    });
  const file = block({
    global: writeGlobal(context),
    ...writeServerSettings(context),
    rule_files: ruleFiles(prometheus),
    alerting: writeAlerting(context),
    remote_write: writeRemoteWrite(context),
    remote_read: writeRemoteRead(context),
    otlp: writeOtlp(context),
    tracing: writeTracing(context),
  });
  const jobs = [
    ...jobsOf('ServiceMonitor', serviceMonitorJobs),
    ...jobsOf('PodMonitor', podMonitorJobs),
    ...jobsOf('Probe', (probe) => [probeJob(probe, context)]),
    ...jobsOf('ScrapeConfig', (object) => [scrapeConfigJob(object, context)]),
  ];
  const omitted = new Set<string>();
  const supported = omitUnsupported('', { ...file, scrape_configs: jobs }, version, (field) =>
    omitted.add(field),
  );
  return {
    file: withAdditionalJobs(supported, context),
    refused,
    omittedFields: [...omitted].sort(),
  };
}

/** Formats a configuration as Prometheus reads it: what YAML 1.1 would read as a number or boolean is quoted. */
export function formatConfiguration(file: Block): string {
  return stringify(file, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

function createContext(
  prometheus: Declared<'Prometheus'>,
  references: (namespace: string) => References,
): ConfigurationContext {
  const version = new PrometheusVersion(prometheus.spec.version || undefined);
  const classes = (prometheus.spec.scrapeClasses ?? []).map((one): CheckedScrapeClass => {
    return within(`scrapeClass ${one.name}`, () => {
      const own = references(prometheus.namespace);
      if (one.tlsConfig) writeTls(one.tlsConfig, own);
      if (one.authorization) writeAuthorization(one.authorization, own);
      return {
        ...one,
        relabelings: within('relabelings', () => writeRelabelings(one.relabelings, version)),
        metricRelabelings: within('metricRelabelings', () =>
          writeRelabelings(one.metricRelabelings, version),
        ),
      };
    });
  });
  const [defaultClass, another] = classes.filter((one) => one.default);
  if (another !== undefined) refuse('multiple default scrape classes defined');
  return {
    prometheus,
    version,
    references,
    defaultClass,
    scrapeClasses: new Map(classes.map((one) => [one.name, one])),
  };
}

/** At least these are mounted, so that rules can grow without a restart. */
const MIN_RULE_CONFIG_MAPS = 3;

/** Where the pod has the rules that the Prometheus selects. */
function ruleFiles({ name, spec }: Declared<'Prometheus'>): readonly string[] {
  if (spec.ruleSelector === undefined) return [];
  return Array.from(
    { length: MIN_RULE_CONFIG_MAPS },
    (_, index) => `/etc/prometheus/rules/prometheus-${name}-rulefiles-${index}/*.yaml`,
  );
}

/** Jobs that the user writes are the last ones, and as they are; with several shards, their targets are distributed, too. */
function withAdditionalJobs(file: Block, context: ConfigurationContext): Block {
  const shards = shardsOf(context.prometheus.spec);
  const additional = readAdditional('additionalScrapeConfigs', context).map((job) => {
    const relabelings = Array.isArray(job.relabel_configs) ? job.relabel_configs : [];
    const isSharded = relabelings.some((one) => one?.action === 'hashmod');
    if (shards === 1 || isSharded) return job;
    return { ...job, relabel_configs: [...relabelings, ...shardingRelabelings('__address__', shards)] };
  });
  const jobs = [...(file.scrape_configs as readonly Block[]), ...additional];
  const names = new Set<unknown>();
  for (const { job_name: name } of jobs) {
    if (names.has(name)) refuse(`additionalScrapeConfigs: job ${JSON.stringify(name)} exists twice`);
    names.add(name);
  }
  return { ...file, scrape_configs: jobs };
}
