import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
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

/** Limit per object; KEDA has none. An object with more is rejected, and its triggers are not polled. */
export const MAX_TRIGGERS = 100;

/** Limits one error: some list all trigger types. */
const MAX_MESSAGE_LENGTH = 1000;
/** Limits the external metrics of one object: an external scaler may return any number. */
const MAX_METRICS = 500;
/** Limits reported missing references of one trigger. */
const MAX_MISSING = 3;
const MAX_MISSING_LENGTH = 400;

interface PrepareTriggersOptions extends AuthenticationContext {
  readonly objectKind: TriggerRequest['objectKind'];
  readonly objectName: string;
  readonly hasFormula: boolean;
  readonly types: TriggerTypes;
  readonly reader: AuthenticationReader;
  /** Prepares one trigger at a time: each may take milliseconds, for example to open a connection. */
  readonly share: EventLoopShare;
}

/**
 * Prepares the queries of all triggers. One that cannot be polled has an error and does not affect the others. The error is an
 * {@link UnreadReference} if a reference cannot be read at the moment.
 *
 * @returns an empty list for more than {@link MAX_TRIGGERS} triggers
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
      return failed(`${where} has more than ${MAX_METRICS} metrics, including those of trigger ${one.index}`);
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

/** A push source reconnects for as long as it lives, each time on behalf of the namespace. */
function forTenant(namespace: string, push: PushSource): PushSource {
  return {
    ...push,
    subscribe: (onActive, signal) => runForTenant(namespace, () => push.subscribe(onActive, signal)),
  };
}

/** Redacts secrets of the trigger from errors: sources redact only those that they know. */
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

/** `sINDEX-NAME`, with `-` for characters that paths cannot contain, as in KEDA. */
function metricNameOf(
  index: number,
  { name, isNameVerbatim = false }: PreparedMetric | { name: string; isNameVerbatim?: boolean },
): string {
  return `s${index}-${isNameVerbatim ? name : name.replaceAll(/[/.:%()]/g, '-')}`;
}
