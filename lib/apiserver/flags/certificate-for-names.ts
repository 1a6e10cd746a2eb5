import type { NamedCertificateFiles } from '#lib/apiserver/tls/serving-certificates.ts';
import type { FlagKind } from '#lib/flags/flag.ts';

/** Files of certificate and key, and the names that they are for: `CERTFILE,KEYFILE:NAME,*.DOMAIN`; may be repeated. */
export const certificateForNames: FlagKind<readonly NamedCertificateFiles[]> = {
  placeholder: 'namedCertKey',
  parse(text) {
    const [files = '', ...behind] = text.split(':');
    const [certFile = '', keyFile = '', ...more] = files.split(',').map((file) => file.trim());
    if (certFile === '' || keyFile === '' || more.length > 0) {
      throw new Error('must be the files of certificate and key with a comma between them');
    }
    const names = behind
      .join(':')
      .split(',')
      .map((name) => name.trim());
    if (behind.length > 0 && names.includes('')) throw new Error('must have no empty name');
    return [{ certFile, keyFile, names: behind.length > 0 ? names : [] }];
  },
  format: (all) =>
    `[${all.map(({ certFile, keyFile, names }) => `${certFile},${keyFile}${names.length > 0 ? `:${names.join(',')}` : ''}`).join(';')}]`,
  join: (lists) => lists.flat(),
};
