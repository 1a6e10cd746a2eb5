import { Secrets } from '../secrets.ts';
import type { HttpCredentials } from './http-credentials.ts';

/** The token, and of a user and password their encoded and their plain form, and the password alone. */
export function secretsIn({ authorization = '' }: HttpCredentials): Secrets {
  const [scheme = '', word] = authorization.split(' ');
  if (scheme !== 'Basic') return new Secrets([word]);
  const login = Buffer.from(word ?? '', 'base64').toString();
  return new Secrets([word, login, login.slice(login.indexOf(':') + 1)]);
}
