import { badRequest } from './status.ts';

/** Where the next page of a list starts. */
export interface ContinueToken {
  readonly resourceVersion: number;
  /** The first key that may be on the page. */
  readonly start: string;
}

/** Writes a token as the real server does: base64url of JSON, with the smallest key after the last one. */
export function writeContinueToken(resourceVersion: number, lastKey: string): string {
  const token = { v: 'meta.k8s.io/v1', rv: resourceVersion, start: `${lastKey}\0` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** @throws ApiError 400 for a token that this server has not written */
export function readContinueToken(token: string): ContinueToken {
  const text = Buffer.from(token, 'base64url').toString();
  try {
    const { v, rv, start } = JSON.parse(text) as { v?: unknown; rv?: unknown; start?: unknown };
    if (v === 'meta.k8s.io/v1' && typeof rv === 'number' && typeof start === 'string') {
      return { resourceVersion: rv, start };
    }
  } catch {
    throw badRequest(
      `invalid continue token: continue key is not valid: invalid character '${[...text][0] ?? ''}' looking for beginning of value`,
    );
  }
  throw badRequest(
    'invalid continue token: continue key is not valid: server does not recognize this encoded version',
  );
}
