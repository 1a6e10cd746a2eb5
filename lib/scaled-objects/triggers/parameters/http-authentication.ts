import type { z } from 'zod';
import { type CredentialSource, fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { parameter, secret, text } from './parameter.ts';
import { authorityIn, clientKey } from './tls-parameters.ts';

const MODES = ['apiKey', 'basic', 'tls', 'bearer', 'custom'] as const;
type Mode = (typeof MODES)[number];
const EXCLUSIVE: readonly string[] = ['bearer', 'basic'];

/** Authentication parameters of HTTP triggers. */
export const HTTP_AUTHENTICATION = {
  authModes: parameter(
    text.optional(),
    `Comma-separated authentication modes: basic, tls, bearer, custom and, for metrics-api only, apiKey; at most one of ${EXCLUSIVE.join(' and ')}.`,
    { from: ['metadata', 'authentication'], aliases: ['authMode'] },
  ),
  bearerToken: secret('Token for bearer.', ['token']),
  username: secret('User name for basic.'),
  password: secret('Password for basic.'),
  ca: secret('CA certificates of the server, in PEM.'),
  cert: secret('Client certificate for tls, in PEM.'),
  key: secret('Key of the client certificate, in PEM.'),
  customAuthHeader: secret('Header name for custom.'),
  customAuthValue: secret('Header value for custom.'),
};

interface HttpIdentity {
  readonly credentials: CredentialSource;
  /** In addition to the headers of the credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly modes: readonly string[];
}

type Given = z.output<z.ZodObject<typeof HTTP_AUTHENTICATION>>;

/** @throws an Error that names the missing or invalid parameter */
export function httpIdentity(given: Given, isUnverified: boolean): HttpIdentity {
  const modes = (given.authModes ?? '')
    .split(',')
    .map((mode) => mode.trim())
    .filter((mode) => mode !== '');
  for (const mode of modes) {
    if (mode === 'oauth') throw new Error('parameter "authModes" value "oauth" is not supported');
    if (!MODES.includes(mode as Mode))
      throw new Error(
        `parameter "authModes" value "${mode.slice(0, 100)}" must be one of [${MODES.join(' ')}]`,
      );
  }
  if (modes.filter((mode) => EXCLUSIVE.includes(mode)).length > 1)
    throw new Error(
      `parameter "authModes" value "${given.authModes}" must contain only one of [${EXCLUSIVE.join(' ')}]`,
    );
  const has = (mode: Mode) => modes.includes(mode);
  const need = (name: keyof Given) => {
    const value = given[name];
    if (value === undefined) throw new Error(`missing required parameter "${name}" in [authParams]`);
    return value.trim();
  };
  const authorization = has('bearer')
    ? `Bearer ${need('bearerToken')}`
    : has('basic')
      ? `Basic ${Buffer.from(`${need('username')}:${given.password ?? ''}`).toString('base64')}`
      : undefined;
  const credentials = fixedCredentials({
    authorization,
    ca: authorityIn(given.ca),
    ...(has('tls') ? { cert: need('cert'), key: clientKey(need('key')) } : {}),
    ...(isUnverified ? { isUnverified } : {}),
  });
  const headers = has('custom') ? { [need('customAuthHeader')]: need('customAuthValue') } : {};
  return { credentials, headers, modes };
}
