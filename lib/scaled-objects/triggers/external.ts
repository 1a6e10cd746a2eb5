import { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { ExternalScalers, serverKey } from '#lib/sources/external-scaler/external-scalers.ts';
import type { ScaledObjectRef, ScalerMetric } from '#lib/sources/external-scaler/messages.ts';
import { MetricSpecCache } from '#lib/sources/external-scaler/metric-spec-cache.ts';
import type { ScalerServer } from '#lib/sources/external-scaler/scaler-channel.ts';
import { digest } from '#lib/sources/query.ts';
import type { Sample } from '#lib/sources/sample.ts';
import { Secrets } from '#lib/sources/secrets.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  boolean,
  hostAndPort,
  METADATA,
  parameter,
  secret,
  text,
  UNSAFE_SSL,
} from './parameters/parameter.ts';
import { parametersOf } from './parameters/read-parameters.ts';
import { clientKey } from './parameters/tls-parameters.ts';
import { type ExternalMetric, neededTarget, type Trigger, type TriggerRequest } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const parameters = z.object({
  scalerAddress: parameter(text, { from: METADATA, description: 'host:port of the scaler.' }),
  enableTLS: parameter(boolean.default(false), {
    from: METADATA,
    description: 'Whether the connection is encrypted; it is, too, where one of the certificates is given.',
    default: 'false',
  }),
  unsafeSsl: UNSAFE_SSL,
  caCert: secret('PEM of the authorities that the server may have its certificate of.'),
  tlsClientCert: secret('PEM of a client certificate.'),
  tlsClientKey: secret('PEM of its key.'),
});

/** What triggers work with that have scalers of users called. */
interface ExternalTriggerOptions {
  readonly scalers: ExternalScalers;
  readonly clock: Clock;
}

const openScalers = (environment: TriggerEnvironment) => new ExternalScalers(environment);

export function openExternalTrigger({ clock, open }: TriggerEnvironment): Trigger {
  return externalTrigger({ clock, scalers: open(openScalers) });
}

/** A scaler of the user's own, called by gRPC. It is sent all metadata of the trigger, and nothing of its authentication. */
export function externalTrigger({ scalers, clock }: ExternalTriggerOptions): Trigger {
  const specs = new MetricSpecCache(scalers, { clock });
  return {
    types: ['external', 'external-push'],
    scalerName: (type) => (type === 'external-push' ? 'externalPushScaler' : 'externalScaler'),
    description:
      "What a scaler of one's own counts, by gRPC. One that pushes is listened to besides: what it tells counts within a second.",
    parameters,
    takesAnyKey: true,
    async plan(request, signal) {
      const given = parametersOf(parameters, request);
      const server = scalerOf(given);
      const object = objectOf(request);
      const metrics = await specsOf(specs, { server, object, signal });
      const push = {
        key: digest([serverKey(server), object]),
        subscribe: (onActive: () => void, subscribed: AbortSignal) =>
          scalers.watchActivity(server, { object, onActive }, subscribed),
      };
      return {
        kind: 'external',
        metrics: metrics.map((metric) => plannedMetric(metric, { scalers, server, object, request })),
        ...(request.type === 'external-push' && { push }),
      };
    },
  };
}

function scalerOf(given: z.output<typeof parameters>): ScalerServer {
  const { caCert: ca, tlsClientCert: cert } = given;
  const key = clientKey(given.tlsClientKey, { name: 'tlsClientKey' });
  if ((cert === undefined) !== (key === undefined))
    throw new Error('tlsClientCert and tlsClientKey need each other');
  const isEncrypted = given.enableTLS || ca !== undefined || cert !== undefined;
  return {
    ...hostAndPort('scalerAddress', given.scalerAddress),
    tls: isEncrypted ? { ca, cert, key, isUnverified: given.unsafeSsl } : undefined,
  };
}

const FROM_ENVIRONMENT = 'FromEnv';

/** Of keys that name variables, the variables' values under the same keys; those without one are left out. */
function objectOf({ objectName, namespace, metadata, environment }: TriggerRequest): ScaledObjectRef {
  const sent = Object.entries(metadata).flatMap(([key, value]): readonly (readonly [string, string])[] => {
    if (!key.endsWith(FROM_ENVIRONMENT)) return [[key, value]];
    const found = getOwn(environment, value);
    return found ? [[key, found]] : [];
  });
  const secrets = sent.flatMap(([key, value]) => (key.endsWith(FROM_ENVIRONMENT) ? [value] : []));
  return { name: objectName, namespace, metadata: Object.fromEntries(sent), secrets };
}

async function specsOf(
  specs: MetricSpecCache,
  { server, object, signal }: { server: ScalerServer; object: ScaledObjectRef; signal: AbortSignal },
): Promise<readonly ScalerMetric[]> {
  try {
    const metrics = await specs.get(server, object, signal);
    if (metrics.length === 0) throw new Error(`${server.host}:${server.port} tells no metrics`);
    return metrics;
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`got empty metric spec: ${describeError(cause)}`, { cause });
  }
}

/** A name goes into paths and HPAs as it is. */
const MAX_NAME_LENGTH = 253;
const NAME = /^[^\s/%\p{Cc}]{1,253}$/u;

function plannedMetric(
  { name, target }: ScalerMetric,
  {
    scalers,
    server,
    object,
    request,
  }: { scalers: ExternalScalers; server: ScalerServer; object: ScaledObjectRef; request: TriggerRequest },
): ExternalMetric {
  // The scaler chooses its names, often after what it was sent: a queue's name stands in variables, too. So these are no
  // reason to refuse one; but texts show it without them.
  const redacted = new Secrets(object.secrets).redact(name, 2 * MAX_NAME_LENGTH);
  const shown = JSON.stringify(redacted.slice(0, 100));
  if (!NAME.test(name))
    throw new Error(`the scaler tells a metric ${shown}, which cannot be the name of one`);
  if (target < 0) throw new Error(`the scaler tells the target ${target} for metric ${shown}`);
  return {
    ...{ name, isNameVerbatim: true },
    target: neededTarget(target, request, `the scaler tells no target for metric ${shown}`),
    query: {
      key: JSON.stringify(['external', serverKey(server), digest(object), name]),
      description: `metric ${redacted} of the scaler at ${server.host}:${server.port}`,
      async run(signal) {
        const [values, isActive] = await Promise.all([
          scalers.values(server, { object, metricName: name }, signal),
          scalers.isActive(server, object, signal),
        ]);
        if (values.length === 0) throw new Error(`the scaler tells no value of metric ${shown}`);
        return values.map((value): Sample => ({ value, labels: { active: `${isActive}` } }));
      },
    },
    evaluate: (samples) => ({
      values: samples.map(({ value }) => value),
      isActive: samples.some(({ labels }) => labels.active === 'true'),
    }),
  };
}
