import type { FairShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { type Query, RequestTally } from '#lib/sources/query.ts';
import { Secrets } from '#lib/sources/secrets.ts';
import type { TriggerSpec } from '../api/scaled-object.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import {
  type AuthenticationContext,
  type AuthenticationReader,
  resolveAuthentication,
} from '../triggers/authentication/resolve-authentication.ts';
import { secretParameters, unmatchedKeys } from '../triggers/parameters/read-parameters.ts';
import type { PushSource, TriggerRequest } from '../triggers/trigger.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import { externalTargetType, type PreparedMetric, type PreparedTrigger } from './prepared-triggers.ts';

/** Of one error: some name all types of triggers. */
const MAX_MESSAGE_LENGTH = 1000;
/** External metrics of one object: a scaler of the user's own returns as many as it likes. */
const MAX_METRICS = 500;
/** So much of what an authentication refers to and is not there is told of, at such length. */
const MAX_MISSING = 3;
const MAX_MISSING_LENGTH = 400;

/** Whose triggers are planned, and with what. */
interface PrepareTriggersOptions extends AuthenticationContext {
  readonly objectKind: TriggerRequest['objectKind'];
  readonly objectName: string;
  readonly hasFormula: boolean;
  readonly types: TriggerTypes;
  readonly reader: AuthenticationReader;
  /** By which triggers are planned one at a time: to plan one may take milliseconds, as where it opens a connection. */
  readonly share: FairShare;
}

/**
 * Works out what is to be asked for each trigger; one that cannot be asked costs itself alone. Where the API server does not
 * say just now what it refers to, its error is an {@link UnreadReference}.
 *
 * @returns nothing for more triggers than an object may have
 * @throws the signal's reason
 */
export async function prepareTriggers(
  triggers: readonly TriggerSpec[],
  options: PrepareTriggersOptions,
): Promise<readonly PreparedTrigger[]> {
  if (triggers.length > MAX_TRIGGERS) return [];
  const planned = await runForTenant(options.namespace, () =>
    Promise.all(triggers.map((trigger, index) => prepareTrigger(trigger, index, options))),
  );
  const where = `${options.objectKind} ${options.objectName}`;
  const names = new Set<string>();
  return planned.map((one) => {
    const failed = (message: string) => ({ ...one, metrics: [], push: undefined, error: new Error(message) });
    if (names.size + one.metrics.length > MAX_METRICS)
      return failed(`${where} has more than ${MAX_METRICS} metrics with those of trigger ${one.index}`);
    const twice = one.metrics.find(({ metricName }) => names.has(metricName));
    for (const { metricName } of one.metrics) names.add(metricName);
    return twice ? failed(`metricName ${twice.metricName} defined multiple times in ${where}`) : one;
  });
}

async function prepareTrigger(
  trigger: TriggerSpec,
  index: number,
  options: PrepareTriggersOptions,
): Promise<PreparedTrigger> {
  const { types, reader, share, objectKind, objectName, namespace, hasFormula, environment, signal } =
    options;
  const { type, name, metadata, metricType, useCachedMetrics = false } = trigger;
  const missing: string[] = [];
  const onMissing = (what: string) => {
    if (missing.length < MAX_MISSING) missing.push(what.slice(0, MAX_MISSING_LENGTH));
  };
  const base = {
    index,
    type,
    name,
    scaler: name || type,
    isCached: useCachedMetrics,
    unmatched: [],
    missing,
    metrics: [],
    resource: undefined,
    push: undefined,
  };
  const requests = new RequestTally();
  let secrets = new Secrets([]);
  await share.next(signal);
  try {
    const found = types.get(type);
    const scaler = name || found.scalerName(type);
    const needsEnvironment = Object.keys(metadata).some((key) => key.endsWith('FromEnv'));
    const request: TriggerRequest = {
      ...{ type, scaler, requests, namespace, objectKind, objectName, metadata, metricType, hasFormula },
      authentication: await resolveAuthentication(trigger.authenticationRef, reader, {
        ...options,
        onMissing,
      }),
      environment: needsEnvironment ? await environment() : {},
    };
    secrets = new Secrets(secretParameters(found.parameters, request));
    const plan = await found.plan(request, signal);
    const unmatched = found.takesAnyKey ? [] : unmatchedKeys(found.parameters, metadata);
    if (plan.kind === 'resource')
      return { ...base, scaler, unmatched, resource: plan.metric, error: undefined };
    const targetType = externalTargetType(metricType);
    const metrics = plan.metrics.map(
      (metric): PreparedMetric => ({
        ...{ ...metric, targetType, metricName: metricNameOf(index, metric) },
        query: { ...redactQuery(metric.query, secrets), requests },
      }),
    );
    return {
      ...base,
      scaler,
      unmatched,
      metrics,
      push: plan.push && forTenant(namespace, plan.push),
      error: undefined,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnreadReference) return { ...base, error };
    const redacted = secrets.redactError(error, MAX_MESSAGE_LENGTH);
    if (missing.length === 0) return { ...base, error: redacted };
    return {
      ...base,
      error: new Error(`${redacted.message}; ${missing.join('; ')}`, { cause: redacted.cause }),
    };
  }
}

/** A source that pushes is connected to again and again, each time on behalf of the namespace. */
function forTenant(namespace: string, push: PushSource): PushSource {
  return {
    ...push,
    subscribe: (onActive, signal) => runForTenant(namespace, () => push.subscribe(onActive, signal)),
  };
}

/** Sources tell nothing of what they know to be secret; some know less than who plans them. */
function redactQuery(query: Query, secrets: Secrets): Query {
  return {
    ...query,
    async run(signal, note) {
      try {
        return await query.run(signal, note && ((text) => note(secrets.redact(text, MAX_MESSAGE_LENGTH))));
      } catch (error) {
        throw signal.aborted ? error : secrets.redactError(error, MAX_MESSAGE_LENGTH);
      }
    },
  };
}

/** `s0-` and the name, with `-` for what a path cannot hold. */
function metricNameOf(
  index: number,
  { name, isNameVerbatim = false }: PreparedMetric | { name: string; isNameVerbatim?: boolean },
): string {
  return `s${index}-${isNameVerbatim ? name : name.replaceAll(/[/.:%()]/g, '-')}`;
}

/** Of one object; KEDA has no limit. One with more is refused, and its triggers are not polled. */
export const MAX_TRIGGERS = 100;
