import type { z } from 'zod';
import { type CredentialSource, fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { parameter, secret, text } from './parameter.ts';
import { authorityIn, clientKey } from './tls-parameters.ts';

const MODES = ['apiKey', 'basic', 'tls', 'bearer', 'custom'] as const;
type Mode = (typeof MODES)[number];
const EXCLUSIVE: readonly string[] = ['bearer', 'basic'];

/** How triggers that speak HTTP say who asks. */
export const HTTP_AUTHENTICATION = {
  authModes: parameter(text.optional(), {
    from: ['metadata', 'authentication'],
    aliases: ['authMode'],
    description: `Who asks is said by these, of ${MODES.join(', ')}, with commas between; at most one of ${EXCLUSIVE.join(' and ')}.`,
  }),
  bearerToken: secret('The token of bearer.', ['token']),
  username: secret('The user of basic.'),
  password: secret('The password of basic.'),
  ca: secret('PEM of the authorities that the server may have its certificate of.'),
  cert: secret('PEM of the client certificate of tls.'),
  key: secret('PEM of its key.'),
  customAuthHeader: secret('The header of custom.'),
  customAuthValue: secret('What stands in it.'),
};

/** Who asks, and how it is said. */
interface HttpIdentity {
  readonly credentials: CredentialSource;
  /** Beside those that the credentials make. */
  readonly headers: Readonly<Record<string, string>>;
  readonly modes: readonly string[];
}

type Given = z.output<z.ZodObject<typeof HTTP_AUTHENTICATION>>;

/** @throws an Error that says which parameter is missing or cannot be used */
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
