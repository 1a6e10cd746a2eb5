import { isIP } from 'node:net';
import { z } from 'zod';
import { NO_CREDENTIALS } from '#lib/sources/http/http-credentials.ts';
import { jetstreamLag } from '#lib/sources/http-apis/jetstream-consumer.ts';
import { boolean, hostAndPort, integer, type Place, parameter, text } from './parameters/parameter.ts';
import { above, defineTrigger, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const PLACE: readonly Place[] = ['authentication', 'metadata'];

const parameters = z.object({
  natsServerMonitoringEndpoint: parameter(text, 'host:port of the HTTP monitoring endpoint.', {
    from: PLACE,
  }),
  account: parameter(
    text.optional(),
    'Required: name or ID of the account that has the stream; `$G` if the server has no accounts.',
    { from: PLACE, aliases: ['accountID'] },
  ),
  stream: parameter(text, 'Name of the stream.'),
  consumer: parameter(text, 'Name of the consumer, whose lag is the value.'),
  lagThreshold: parameter(integer.default(10), 'Target number of messages per replica.'),
  activationLagThreshold: parameter(integer.default(0), 'The trigger is active above this value.'),
  useHttps: parameter(boolean.default(false), 'Whether to use HTTPS.'),
});

/** The lag of a NATS JetStream consumer. */
export function natsJetstreamTrigger({
  clients,
  timeoutMs,
}: Pick<TriggerEnvironment, 'clients' | 'timeoutMs'>): Trigger {
  return defineTrigger({
    types: ['nats-jetstream'],
    scalerName: () => 'natsJetStreamScaler',
    description:
      'The lag of a NATS JetStream consumer: the number of messages that were not delivered to the consumer yet, or that the consumer has not acknowledged.',
    parameters,
    plan(given, request) {
      const { account, stream, consumer, lagThreshold: target } = given;
      if (account === undefined) throw new Error('no account name or id given');
      if (target < 1) throw new Error(`parameter "lagThreshold" value "${target}" must be greater than 0`);
      const { host, port } = hostAndPort('natsServerMonitoringEndpoint', given.natsServerMonitoringEndpoint);
      const scheme = given.useHttps ? 'https' : 'http';
      const address = `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
      if (!URL.canParse(address))
        throw new Error('parameter "natsServerMonitoringEndpoint" must be host:port');
      const http = clients.for(NO_CREDENTIALS, request);
      return oneMetric({
        name: `nats-jetstream-${stream}`,
        target,
        query: jetstreamLag({
          http,
          endpoint: new URL(address),
          account: account.trim(),
          stream,
          consumer,
          timeoutMs,
        }),
        evaluate: above(given.activationLagThreshold),
      });
    },
  });
}
