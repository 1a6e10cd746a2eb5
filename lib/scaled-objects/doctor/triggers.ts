import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { type Check, examineEach, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { findSourceRemedy } from '#lib/sources/source-failures.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { readTriggerAuthentication } from '../api/cached-objects.ts';
import { CLUSTER_TRIGGER_AUTHENTICATIONS, TRIGGER_AUTHENTICATIONS } from '../api/resources.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { TriggerAuthentication } from '../api/trigger-authentication.ts';
import { prepareTriggers } from '../preparation/prepare-triggers.ts';
import { compileScaledJob, type PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import { compileScaledObject, type PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import type { PreparedMetric } from '../preparation/prepared-triggers.ts';
import type { ScaledObjectsOptions } from '../scaled-objects-options.ts';
import { containerEnvironments } from '../triggers/authentication/container-environment.ts';
import { boundedReader, clusterReader } from '../triggers/authentication/reference-reader.ts';
import { listEndpoints, listPods } from '../triggers/cluster-lookups.ts';
import { openTriggerEnvironment } from '../triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from '../triggers/trigger-registry.ts';
import type { ExaminedObjects } from './definitions.ts';
import { failed } from './diagnoses.ts';

export interface TriggersCheckOptions {
  readonly options: ScaledObjectsOptions;
  readonly allowedHosts: readonly string[];
  readonly httpTimeoutMs: number;
  readonly awsIdentityHosts: readonly string[];
  readonly sharedServiceNamespaces: readonly string[];
  /** `undefined` for all. */
  readonly namespace: string | undefined;
}

const TIMEOUT_MS = 15_000;
const LOOKUP_TIMEOUT_MS = 5000;
/** Limits of reported keys of one trigger. */
const MAX_KEYS = 10;
const MAX_KEY_LENGTH = 100;

/** Prepares each trigger and queries its source once, as the autoscaler does. */
export function triggers(
  examined: ExaminedObjects,
  { options, namespace, ...how }: TriggersCheckOptions,
): Check {
  return {
    name: 'scaledobjects-triggers',
    title: 'Triggers of ScaledObjects and ScaledJobs',

    async run(context) {
      const { objects, jobs } = await examined.all(context);
      const all = [...objects, ...jobs];
      if (all.length === 0) return findingsOr('objects', [], all);
      const authentications = new Map<string, TriggerAuthentication>();
      for (const resource of [TRIGGER_AUTHENTICATIONS, CLUSTER_TRIGGER_AUTHENTICATIONS])
        for (const one of await context.list(
          `${resource.plural}.${resource.group}`,
          { path: collectionPath(resource, namespace) },
          readTriggerAuthentication,
        ))
          authentications.set(`${resource.kind} ${keyOf(one.metadata)}`, one);
      const { client, clock } = context;
      await using sources = openTriggerEnvironment({
        ...{ clock, userAgent: 'autoscaler-doctor', allowedHosts: how.allowedHosts },
        ...{ timeoutMs: how.httpTimeoutMs, awsIdentityHosts: how.awsIdentityHosts },
        sharedServiceNamespaces: how.sharedServiceNamespaces,
        findAddresses: NameResolver.ofSystem({ clock, timeoutMs: LOOKUP_TIMEOUT_MS }).findAddresses,
        ...{ listPods: listPods(client), listEndpoints: listEndpoints(client) },
      });
      const reader = clusterReader({
        ...{ client, ...options },
        authentication: (kind, key) => authentications.get(`${kind} ${key}`),
      });
      const examination = { context, reader, types: new TriggerTypes(allTriggers(sources)) };
      const checks = [
        ...objects.map((object) => () => {
          const prepared = compileScaledObject(object);
          return examine({ kind: 'ScaledObject', object, prepared }, examination);
        }),
        ...jobs.map((object) => () => {
          const prepared = compileScaledJob(object);
          return examine({ kind: 'ScaledJob', object, prepared }, examination);
        }),
      ];
      return findingsOr('triggers', await examineEach(checks, (check) => check()), all);
    },
  };
}

type Examined =
  | { readonly kind: 'ScaledObject'; readonly object: ScaledObject; readonly prepared: PreparedScaledObject }
  | { readonly kind: 'ScaledJob'; readonly object: ScaledJob; readonly prepared: PreparedScaledJob };

interface Examination {
  readonly context: ClusterContext;
  readonly reader: ReturnType<typeof clusterReader>;
  readonly types: TriggerTypes;
}

async function examine(
  examined: Examined,
  { context, types, ...rest }: Examination,
): Promise<readonly Finding[]> {
  const reader = boundedReader(rest.reader);
  const { kind, object, prepared } = examined;
  const { name, namespace, hasFormula, envSourceContainer } = prepared;
  const { signal } = context;
  const names = { KIND: kind.toLowerCase(), NAMESPACE: namespace, NAME: name };
  const environment = containerEnvironments({
    readWorkload: () => workloadOf(examined, context),
    container: envSourceContainer,
    ...{ reader, namespace, signal },
  });
  const about = { objectKind: kind, objectName: name, namespace, hasFormula };
  const planned = await prepareTriggers(object.spec.triggers, {
    ...{ ...about, types, reader, environment, signal },
    share: new EventLoopShare(context.clock),
  });
  const findings = planned.map(async (trigger): Promise<readonly Finding[]> => {
    const subject = `${kind.toLowerCase()} ${namespace}/${name} trigger ${trigger.index} (${trigger.type})`;
    const notes = trigger.unmatched
      .slice(0, MAX_KEYS)
      .map((key) =>
        note(
          subject,
          `metadata key "${key.slice(0, MAX_KEY_LENGTH)}" has no effect on a trigger of this type`,
        ),
      );
    if (trigger.error)
      return [
        ...notes,
        failed(subject, describeError(trigger.error), {
          ...{ diagnosis: 'scaledobjects-trigger-unusable', ...names },
        }),
      ];
    if (trigger.resource) return [...notes, note(subject, 'read by the HPA controller')];
    const missing = trigger.missing.map((what) =>
      failed(subject, what, { diagnosis: 'scaledobjects-parameter-missing', ...names }),
    );
    const queries = trigger.metrics.map((metric) => queryMetric(metric, { subject, names, context }));
    return [...notes, ...missing, ...(await Promise.all(queries))];
  });
  return (await Promise.all(findings)).flat();
}

async function queryMetric(
  { query, evaluate, target, metricName }: PreparedMetric,
  {
    subject,
    names,
    context,
  }: { subject: string; names: Readonly<Record<string, string>>; context: ClusterContext },
): Promise<Finding> {
  const { timeoutMs = TIMEOUT_MS } = query;
  const expired = () => new Error(`no response within ${timeoutMs} ms`);
  using deadline = startDeadline(context.clock, timeoutMs, { signal: context.signal, expired });
  try {
    const samples = await raceAbort(
      query.run(deadline.signal, () => {}),
      deadline.signal,
    );
    const { values, isActive } = evaluate(samples);
    const reading = `${metricName} is ${values.join(' + ')}, its target ${target}`;
    return ok(subject, `${reading}: the trigger is ${isActive ? '' : 'not '}active`);
  } catch (error) {
    context.signal.throwIfAborted();
    return failed(subject, `${query.description}: ${describeError(error)}`, {
      ...{ diagnosis: 'scaledobjects-trigger-failing', ...names, remedy: findSourceRemedy(error) },
    });
  }
}

async function workloadOf(examined: Examined, { client, mapper, signal }: ClusterContext): Promise<unknown> {
  if (examined.kind === 'ScaledJob') return { spec: examined.object.spec.jobTargetRef };
  const target = examined.prepared.target.ref;
  const resource = await mapper.find(target, signal);
  if (!resource) throw new Error(`the API server does not serve ${target.kind} of ${target.apiVersion}`);
  return await client.getJson(objectPath(resource, target), { signal });
}
