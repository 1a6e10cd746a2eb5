import type { SQSClient } from '@aws-sdk/client-sqs';
import { LruMap } from '#lib/cache/lru-map.ts';
import type { HttpClient } from '../http/http-client.ts';
import { digest, type Query } from '../query.ts';
import type { Sample } from '../sample.ts';
import { Secrets } from '../secrets.ts';
import { boundedRequestHandler } from './bounded-request-handler.ts';
import { IdentityHosts, type IdentityHostsOptions } from './identity-hosts.ts';

/** Credentials that are not those of this process. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** What a region is asked with. */
export interface SqsRegionOptions {
  readonly http: HttpClient;
  /** As in `eu-central-1`. */
  readonly region: string;
  /** By default that of AWS in the region. */
  readonly endpoint?: URL | undefined;
  /** By default what the AWS SDK finds in the environment: a service account's role, variables, the machine's role. */
  readonly credentials?: AwsCredentials | undefined;
}

/** A queue, by one of these. */
export type SqsQueue = { readonly name: string } | { readonly url: string };

/** Which messages count. */
export type CountedMessages = 'waiting' | 'in flight' | 'delayed';

const ATTRIBUTES = {
  waiting: 'ApproximateNumberOfMessages',
  'in flight': 'ApproximateNumberOfMessagesNotVisible',
  delayed: 'ApproximateNumberOfMessagesDelayed',
} as const;

/** A poll comes back by itself, with backoff. */
const MAX_ATTEMPTS = 2;
const COUNT = /^\d{1,15}$/;

/** Amazon SQS in one region. */
export class SqsRegion implements AsyncDisposable {
  readonly #options: SqsRegionOptions;
  readonly #urls = new Map<string, string>();
  #client: Promise<SQSClient> | undefined;

  constructor(options: SqsRegionOptions) {
    this.#options = options;
  }

  /** How many messages are in a queue; by default those that wait to be received. */
  queueLength(queue: SqsQueue, counted: readonly CountedMessages[] = ['waiting']): Query {
    const { region, credentials } = this.#options;
    const secrets = new Secrets([credentials?.secretAccessKey, credentials?.sessionToken]);
    const name = 'name' in queue ? queue.name : (queue.url.split('/').at(-1) ?? '');
    const wanted = [...new Set(counted)].sort();
    return {
      key: JSON.stringify(['sqs', sqsRegionKey(this.#options), queue, wanted]),
      description: `length of queue ${name} of SQS in ${region}`,
      source: `sqs.${region}`,
      run: async (signal) => {
        try {
          return await this.#run(queue, { wanted, signal });
        } catch (error) {
          signal.throwIfAborted();
          const cause = secrets.redactError(error);
          this.#urls.delete(name);
          throw new Error(`Cannot get the length of queue ${JSON.stringify(name)} of SQS in ${region}`, {
            cause,
          });
        }
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#client)?.destroy();
  }

  async #run(
    queue: SqsQueue,
    { wanted, signal }: { readonly wanted: readonly CountedMessages[]; readonly signal: AbortSignal },
  ): Promise<readonly Sample[]> {
    const { default: sqs } = await import('@aws-sdk/client-sqs');
    this.#client ??= this.#connect();
    const client = await this.#client;
    const url = 'url' in queue ? queue.url : await this.#findUrl(queue.name, { client, signal });
    const names = wanted.map((one) => ATTRIBUTES[one]);
    const { Attributes = {} } = await client.send(
      new sqs.GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: names }),
      { abortSignal: signal },
    );
    const counts = names.map((name) => {
      const text = Attributes[name];
      if (text === undefined) throw new Error(`metric ${name} not found in SQS queue attributes`);
      if (!COUNT.test(text)) throw new Error(`${name} is ${JSON.stringify(text)}, no count`);
      return Number(text);
    });
    return [{ value: counts.reduce((sum, count) => sum + count, 0), labels: {} }];
  }

  async #findUrl(
    name: string,
    { client, signal }: { readonly client: SQSClient; readonly signal: AbortSignal },
  ): Promise<string> {
    const known = this.#urls.get(name);
    if (known !== undefined) return known;
    const { default: sqs } = await import('@aws-sdk/client-sqs');
    const command = new sqs.GetQueueUrlCommand({ QueueName: name });
    const { QueueUrl: url } = await client.send(command, { abortSignal: signal });
    if (!url) throw new Error('SQS tells no URL of it');
    this.#urls.set(name, url);
    return url;
  }

  async #connect(): Promise<SQSClient> {
    const { default: sqs } = await import('@aws-sdk/client-sqs'); // which is all that a bundle has of CommonJS
    const { http, region, endpoint, credentials } = this.#options;
    return new sqs.SQSClient({
      region,
      maxAttempts: MAX_ATTEMPTS,
      requestHandler: boundedRequestHandler(http),
      useQueueUrlAsEndpoint: false, // a response, or who names a queue, must not say whom we ask
      ...(endpoint && { endpoint: endpoint.href }),
      ...(credentials && { credentials }),
    });
  }
}

/** Tells regions, and who asks them, apart; holds no secret. */
function sqsRegionKey({ region, endpoint, credentials }: SqsRegionOptions): string {
  return JSON.stringify([region, endpoint?.href, credentials ? digest(credentials) : '']);
}

/** A client of the SDK takes 80 kB. Those that were asked for the longest ago go; who asks them still makes do with its own. */
const MAX_REGIONS = 100;

/** Regions of SQS, one for all that ask it in the same way. */
export class SqsRegions implements AsyncDisposable {
  readonly #regions = new LruMap<string, SqsRegion>({
    max: MAX_REGIONS,
    onEvict: (region) => void region[Symbol.asyncDispose]().catch(() => {}), // it has nothing to give back
  });
  readonly #identityHosts: IdentityHosts;

  /** By default, SQS alone sees the identity of this program. */
  constructor(identityHosts: IdentityHostsOptions = { hosts: [] }) {
    this.#identityHosts = new IdentityHosts(identityHosts);
  }

  /** @throws an Error where the endpoint must not see the identity of this program, which the options leave to it to show */
  for(options: SqsRegionOptions): SqsRegion {
    if (options.endpoint && !options.credentials) this.#identityHosts.check(options.endpoint);
    return this.#regions.getOrSet(sqsRegionKey(options), () => new SqsRegion(options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#regions.values()].map((region) => region[Symbol.asyncDispose]()));
  }
}
