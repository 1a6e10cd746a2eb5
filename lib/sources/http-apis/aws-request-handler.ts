import { type HttpClient, isRedirect, unexpectedStatus } from '../http/http-client.ts';

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
export function boundedRequestHandler(http: HttpClient) {
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
