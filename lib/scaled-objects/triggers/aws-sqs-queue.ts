import { z } from 'zod';
import { NO_CREDENTIALS } from '#lib/sources/http/http-credentials.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import {
  type AwsCredentials,
  type CountedMessages,
  type SqsQueue,
  SqsRegions,
} from '#lib/sources/http-apis/sqs-queue.ts';
import { boolean, integer, oneOf, type Place, parameter, secret, text } from './parameters/parameter.ts';
import { above, defineTrigger, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

/** Part of a host name. */
const REGION = /^[a-z0-9-]{1,50}$/;
const KEY: readonly Place[] = ['authentication', 'environment', 'metadata'];

const parameters = z.object({
  queueURL: parameter(text, 'The URL of the queue, or its name.', { from: ['metadata', 'environment'] }),
  queueLength: parameter(integer.default(5), 'Target number of messages per replica.'),
  activationQueueLength: parameter(integer.default(0), 'The trigger is active above this value.'),
  awsRegion: parameter(text, 'Region, such as eu-central-1.', { from: ['metadata', 'authentication'] }),
  awsEndpoint: parameter(
    text.optional(),
    'URL of an endpoint, instead of the endpoint of the region. If identityOwner is operator, it must be an endpoint of SQS, or its host must be in --aws-identity-hosts.',
  ),
  scaleOnInFlight: parameter(
    boolean.default(true),
    'Whether to count messages that were received, but not deleted.',
  ),
  scaleOnDelayed: parameter(boolean.default(false), 'Whether to count delayed messages.'),
  identityOwner: parameter(
    oneOf('pod', 'operator').default('pod'),
    'Identity that requests use. pod: the access key in the following parameters. operator: the identity of the autoscaler.',
  ),
  awsAccessKeyID: parameter(text.optional(), 'ID of the access key.', {
    from: KEY,
    aliases: ['awsAccessKeyId'],
  }),
  awsSecretAccessKey: parameter(text.optional(), 'Secret access key.', { from: KEY, isSecret: true }),
  awsSessionToken: secret('Session token of temporary credentials.'),
  awsRoleArn: secret('Not supported (a role to assume).'),
});

const openRegions = ({ awsIdentityHosts }: TriggerEnvironment) => new SqsRegions({ hosts: awsIdentityHosts });

/** The messages of a queue of Amazon SQS. */
export function awsSqsQueueTrigger({ open, clients }: Pick<TriggerEnvironment, 'open' | 'clients'>): Trigger {
  const regions = open(openRegions);
  return defineTrigger({
    types: ['aws-sqs-queue'],
    scalerName: () => 'awsSqsQueueScaler',
    description: 'The number of messages in a queue of Amazon SQS.',
    parameters,
    plan(given) {
      if (given.awsRoleArn !== undefined) throw new Error('parameter "awsRoleArn" is not supported');
      if (given.queueLength < 1)
        throw new Error(`parameter "queueLength" value "${given.queueLength}" must be greater than 0`);
      const awsRegion = given.awsRegion.trim();
      if (!REGION.test(awsRegion))
        throw new Error('parameter "awsRegion" must be a region such as eu-central-1');
      const { queue, name } = queueOf(given.queueURL.trim());
      const region = regions.for({
        http: clients.find(NO_CREDENTIALS),
        region: awsRegion,
        ...{ endpoint: endpointOf(given.awsEndpoint), credentials: credentialsOf(given) },
      });
      const counted: CountedMessages[] = ['waiting'];
      if (given.scaleOnInFlight) counted.push('in flight');
      if (given.scaleOnDelayed) counted.push('delayed');
      return oneMetric({
        name: `aws-sqs-${name}`,
        query: region.queueLength(queue, counted),
        target: given.queueLength,
        evaluate: above(given.activationQueueLength),
      });
    },
  });
}

/** A text that is not a URL is the name of the queue. */
function queueOf(text: string): { readonly queue: SqsQueue; readonly name: string } {
  if (!/^https?:\/\//.test(text)) return { queue: { name: text }, name: text };
  const segments = URL.canParse(text) ? new URL(text).pathname.split('/') : [];
  const name = segments[2];
  if (segments.length !== 3 || !name) throw new Error('cannot get queueName from queueURL');
  return { queue: { url: text }, name };
}

function endpointOf(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const read = parseSourceUrl(text.trim());
  if (typeof read === 'string') throw new Error(`parameter "awsEndpoint" ${read}`);
  return read.url;
}

function credentialsOf(given: z.output<typeof parameters>): AwsCredentials | undefined {
  const { identityOwner, awsAccessKeyID, awsSecretAccessKey, awsSessionToken } = given;
  if (identityOwner === 'operator') return undefined;
  if (awsAccessKeyID === undefined) throw new Error('awsAccessKeyID not found');
  if (awsSecretAccessKey === undefined) throw new Error('awsSecretAccessKey not found');
  return {
    accessKeyId: awsAccessKeyID.trim(),
    secretAccessKey: awsSecretAccessKey.trim(),
    ...(awsSessionToken !== undefined && { sessionToken: awsSessionToken.trim() }),
  };
}
