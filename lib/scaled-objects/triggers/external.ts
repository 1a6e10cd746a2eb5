import { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { ExternalScalers, serverKey } from '#lib/sources/external-scaler/external-scalers.ts';
import type { ScaledObjectRef, ScalerMetric } from '#lib/sources/external-scaler/messages.ts';
import { MetricSpecCache } from '#lib/sources/external-scaler/metric-spec-cache.ts';
import type { SourceServer } from '#lib/sources/network/tls.ts';
import { digest } from '#lib/sources/query.ts';
import type { Sample } from '#lib/sources/sample.ts';
import { Secrets } from '#lib/sources/secrets.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { boolean, hostAndPort, parameter, secret, text, UNSAFE_SSL } from './parameters/parameter.ts';
import { clientKey } from './parameters/tls-parameters.ts';
import {
  defineTrigger,
  type ExternalMetric,
  neededTarget,
  type Trigger,
  type TriggerRequest,
} from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const parameters = z.object({
  scalerAddress: parameter(text, 'host:port of the scaler.'),
  enableTLS: parameter(
    boolean.default(false),
    'Whether to use TLS. A value of caCert or tlsClientCert enables TLS as well.',
  ),
  unsafeSsl: UNSAFE_SSL,
  caCert: secret('CA certificates of the server, in PEM.'),
  tlsClientCert: secret('Client certificate, in PEM.'),
  tlsClientKey: secret('Key of the client certificate, in PEM.'),
});

const openScalers = (environment: TriggerEnvironment) => new ExternalScalers(environment);

/** An external scaler of the user, called by gRPC. It receives all metadata of the trigger, and nothing of its authentication. */
export function externalTrigger({ open, clock }: Pick<TriggerEnvironment, 'open' | 'clock'>): Trigger {
  const scalers = open(openScalers);
  const specs = new MetricSpecCache(scalers, { clock });
  return defineTrigger({
    types: ['external', 'external-push'],
    scalerName: (type) => (type === 'external-push' ? 'externalPushScaler' : 'externalScaler'),
    description:
      'The metrics of an external scaler, read over gRPC. With external-push, the autoscaler also subscribes to pushes of the scaler, which take effect within a second.',
    parameters,
    takesAnyKey: true,
    async plan(given, request, signal) {
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
  });
}

function scalerOf(given: z.output<typeof parameters>): SourceServer {
  const { caCert: ca, tlsClientCert: cert } = given;
  const key = clientKey(given.tlsClientKey, { name: 'tlsClientKey' });
  if ((cert === undefined) !== (key === undefined))
    throw new Error('tlsClientCert and tlsClientKey must be set together');
  const isEncrypted = given.enableTLS || ca !== undefined || cert !== undefined;
  return {
    ...hostAndPort('scalerAddress', given.scalerAddress),
    tls: isEncrypted ? { ca, cert, key, isUnverified: given.unsafeSsl } : undefined,
  };
}

const FROM_ENVIRONMENT = 'FromEnv';

/** Replaces names of variables by their values, under the same keys; keys of missing variables are omitted. */
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
  { server, object, signal }: { server: SourceServer; object: ScaledObjectRef; signal: AbortSignal },
): Promise<readonly ScalerMetric[]> {
  try {
    const metrics = await specs.get(server, object, signal);
    if (metrics.length === 0) throw new Error(`${server.host}:${server.port} returned no metrics`);
    return metrics;
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`got empty metric spec: ${describeError(cause)}`, { cause });
  }
}

/** Names are used verbatim in paths and HPAs. */
const MAX_NAME_LENGTH = 253;
const NAME = /^[^\s/%\p{Cc}]{1,253}$/u;

function plannedMetric(
  { name, target }: ScalerMetric,
  {
    scalers,
    server,
    object,
    request,
  }: { scalers: ExternalScalers; server: SourceServer; object: ScaledObjectRef; request: TriggerRequest },
): ExternalMetric {
  // The scaler may build names from values that it received, such as the name of a queue in a variable. They are valid names,
  // but messages redact them.
  const redacted = new Secrets(object.secrets).redact(name, 2 * MAX_NAME_LENGTH);
  const shown = JSON.stringify(redacted.slice(0, 100));
  const scaler = `the scaler at ${server.host}:${server.port}`;
  if (!NAME.test(name)) throw new Error(`${scaler} returned the invalid metric name ${shown}`);
  if (target < 0) throw new Error(`${scaler} returned the negative target ${target} for metric ${shown}`);
  return {
    ...{ name, isNameVerbatim: true },
    target: neededTarget(target, request, `${scaler} returned no target for metric ${shown}`),
    query: {
      key: JSON.stringify(['external', serverKey(server), digest(object), name]),
      description: `metric ${redacted} of ${scaler}`,
      async run(signal) {
        const [values, isActive] = await Promise.all([
          scalers.values(server, { object, metricName: name }, signal),
          scalers.isActive(server, object, signal),
        ]);
        if (values.length === 0) throw new Error(`${scaler} returned no value for metric ${shown}`);
        return values.map((value): Sample => ({ value, labels: { active: `${isActive}` } }));
      },
    },
    evaluate: (samples) => ({
      values: samples.map(({ value }) => value),
      isActive: samples.some(({ labels }) => labels.active === 'true'),
    }),
  };
}
