import type { HttpCredentials } from './http-credentials.ts';

/** Shorter ones may be found in anything. */
const MIN_LENGTH = 8;
const REPLACEMENT = Buffer.from('…');

/** A body without what it repeats of the credentials that were shown: errors are told to people who must not know these. */
export function withoutSecrets(body: Buffer, { authorization = '' }: HttpCredentials): Buffer {
  return secretsIn(authorization).reduce(without, body);
}

/** A text without what it repeats of what was shown to its writer. */
export function textWithoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets
    .filter((secret) => secret !== undefined && secret.length >= MIN_LENGTH)
    .reduce<string>((left, secret) => left.replaceAll(secret ?? '', '…'), text);
}

/** The token, and of a user and password their encoded and their plain form, and the password alone. */
function secretsIn(authorization: string): readonly Buffer[] {
  const [scheme = '', word = ''] = authorization.split(' ');
  const login = Buffer.from(scheme === 'Basic' ? word : '', 'base64');
  const plain = [login, login.subarray(login.indexOf(':') + 1)];
  return [Buffer.from(word), ...plain].filter(({ length }) => length >= MIN_LENGTH);
}

function without(body: Buffer, secret: Buffer): Buffer {
  const parts: Buffer[] = [];
  let begin = 0;
  for (let at = body.indexOf(secret); at !== -1; at = body.indexOf(secret, begin)) {
    parts.push(body.subarray(begin, at), REPLACEMENT);
    begin = at + secret.length;
  }
  return begin === 0 ? body : Buffer.concat([...parts, body.subarray(begin)]);
}
