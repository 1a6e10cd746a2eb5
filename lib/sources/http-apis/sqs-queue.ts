import type { SQSClient } from '@aws-sdk/client-sqs';
import { LruMap } from '#lib/cache/lru-map.ts';
import { type HttpClient, isRedirect, unexpectedStatus } from '../http/http-client.ts';
import { digest, type Query } from '../query.ts';
import type { Sample } from '../sample.ts';
import { Secrets } from '../secrets.ts';
import { IdentityHosts, type IdentityHostsOptions } from './aws-identity-hosts.ts';

/** Credentials other than those of this process. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SqsRegionOptions {
  readonly http: HttpClient;
  /** Such as `eu-central-1`. */
  readonly region: string;
  /** By default the SQS endpoint of the region. */
  readonly endpoint?: URL | undefined;
  /**
   * By default those that the AWS SDK finds: role of the service account, environment variables, role of the machine.
   */
  readonly credentials?: AwsCredentials | undefined;
}

export type SqsQueue = { readonly name: string } | { readonly url: string };

export type CountedMessages = 'waiting' | 'in flight' | 'delayed';

const ATTRIBUTES = {
  waiting: 'ApproximateNumberOfMessages',
  'in flight': 'ApproximateNumberOfMessagesNotVisible',
  delayed: 'ApproximateNumberOfMessagesDelayed',
} as const;

/** Few, since polls retry with backoff. */
const MAX_ATTEMPTS = 2;
const COUNT = /^\d{1,15}$/;

export class SqsRegion implements AsyncDisposable {
  readonly #options: SqsRegionOptions;
  readonly #urls = new Map<string, string>();
  #client: Promise<SQSClient> | undefined;

  constructor(options: SqsRegionOptions) {
    this.#options = options;
  }

  /** Creates a query for the number of messages in a queue; by default those available for retrieval. */
  queueLength(queue: SqsQueue, counted: readonly CountedMessages[] = ['waiting']): Query {
    const { region, credentials } = this.#options;
    const secrets = new Secrets([credentials?.secretAccessKey, credentials?.sessionToken]);
    const name = 'name' in queue ? queue.name : (queue.url.split('/').at(-1) ?? '');
    const types = [...new Set(counted)].sort();
    return {
      key: JSON.stringify(['sqs', sqsRegionKey(this.#options), queue, types]),
      description: `length of queue ${name} of SQS in ${region}`,
      source: `sqs.${region}`,
      run: async (signal) => {
        try {
          return await this.#run(queue, { types, signal });
        } catch (error) {
          signal.throwIfAborted();
          const cause = secrets.redactError(error);
          this.#urls.delete(name);
          throw new Error(`Cannot read the length of queue ${JSON.stringify(name)} of SQS in ${region}`, {
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
    { types, signal }: { readonly types: readonly CountedMessages[]; readonly signal: AbortSignal },
  ): Promise<readonly Sample[]> {
    const { default: sqs } = await import('@aws-sdk/client-sqs');
    this.#client ??= this.#connect();
    const client = await this.#client;
    const url = 'url' in queue ? queue.url : await this.#findUrl(queue.name, { client, signal });
    const names = types.map((one) => ATTRIBUTES[one]);
    const { Attributes = {} } = await client.send(
      new sqs.GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: names }),
      { abortSignal: signal },
    );
    const counts = names.map((name) => {
      const text = Attributes[name];
      if (text === undefined) throw new Error(`metric ${name} not found in SQS queue attributes`);
      if (!COUNT.test(text)) throw new Error(`${name} is ${JSON.stringify(text)}, not a count`);
      return Number(text);
    });
    return [{ value: counts.reduce((sum, count) => sum + count, 0), labels: {} }];
  }

  async #findUrl(
    name: string,
    { client, signal }: { readonly client: SQSClient; readonly signal: AbortSignal },
  ): Promise<string> {
    const cached = this.#urls.get(name);
    if (cached !== undefined) return cached;
    const { default: sqs } = await import('@aws-sdk/client-sqs');
    const command = new sqs.GetQueueUrlCommand({ QueueName: name });
    const { QueueUrl: url } = await client.send(command, { abortSignal: signal });
    if (!url) throw new Error('GetQueueUrl returned no URL');
    this.#urls.set(name, url);
    return url;
  }

  async #connect(): Promise<SQSClient> {
    const { default: sqs } = await import('@aws-sdk/client-sqs'); // a bundle has only the default export of CommonJS
    const { http, region, endpoint, credentials } = this.#options;
    return new sqs.SQSClient({
      region,
      maxAttempts: MAX_ATTEMPTS,
      requestHandler: boundedRequestHandler(http),
      useQueueUrlAsEndpoint: false, // neither a response nor a queue URL may choose the host
      ...(endpoint && { endpoint: endpoint.href }),
      ...(credentials && { credentials }),
    });
  }
}

/** Identifies a region and its credentials; contains no secret. */
function sqsRegionKey({ region, endpoint, credentials }: SqsRegionOptions): string {
  return JSON.stringify([region, endpoint?.href, credentials ? digest(credentials) : '']);
}

/** A client of the SDK takes 80 kB. The least recently used are evicted; their queries continue to use them. */
const MAX_REGIONS = 100;

/** Regions of SQS, shared by equal options. */
export class SqsRegions implements AsyncDisposable {
  readonly #regions = new LruMap<string, SqsRegion>({
    max: MAX_REGIONS,
    onEvict: (region) => void region[Symbol.asyncDispose]().catch(() => {}), // it did not connect
  });
  readonly #identityHosts: IdentityHosts;

  /** By default, only SQS may receive the identity of this program. */
  constructor(identityHosts: IdentityHostsOptions = { hosts: [] }) {
    this.#identityHosts = new IdentityHosts(identityHosts);
  }

  /** @throws an Error if the options use the identity of this program, but the endpoint may not receive it */
  for(options: SqsRegionOptions): SqsRegion {
    if (options.endpoint && !options.credentials) this.#identityHosts.check(options.endpoint);
    return this.#regions.getOrSet(sqsRegionKey(options), () => new SqsRegion(options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#regions.values()].map((region) => region[Symbol.asyncDispose]()));
  }
}

/** A signed request of the AWS SDK. */
interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Responses about a queue contain a few numbers. */
const MAX_BYTES = 256 * 1024;
/** The SDK passes no signal when it requests credentials for the identity of this program. */
const NO_SIGNAL = new AbortController().signal;
const TIMEOUT_MS = 10_000;
/** The client writes these headers itself, with the signed values. */
const WRITTEN_BY_CLIENT = ['host', 'content-length'];

/**
 * Sends requests of the AWS SDK by {@link HttpClient}, so that responses are bounded and redirects are not followed, as
 * for other sources.
 */
function boundedRequestHandler(http: HttpClient) {
  return {
    async handle(request: SdkRequest, { abortSignal }: { readonly abortSignal?: unknown } = {}) {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : NO_SIGNAL;
      const { protocol, hostname, port, path, body } = request;
      const headers = Object.entries(request.headers).filter(
        ([name]) => !WRITTEN_BY_CLIENT.includes(name.toLowerCase()),
      );
      const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
      const { statusCode, ...response } = await http.exchange(
        {
          url,
          method: request.method === 'GET' ? 'GET' : 'POST',
          headers: Object.fromEntries(headers),
          maxBytes: MAX_BYTES,
          timeoutMs: TIMEOUT_MS,
          ...(body === undefined ? {} : { body: toText(body) }),
        },
        signal,
      );
      if (isRedirect(statusCode)) throw unexpectedStatus(url, statusCode);
      return { response: { statusCode, reason: '', ...response } };
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
  };
}

/** Requests of SQS are JSON. */
function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  throw new Error('the body of a request must be text');
}
