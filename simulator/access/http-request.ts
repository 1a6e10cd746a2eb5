import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Credentials } from './authenticator.ts';

/** Reads the credentials of a request and its connection, whose TLS requested a client certificate. */
export function credentialsOf(socket: TLSSocket, headers: IncomingHttpHeaders): Credentials {
  const bearerToken = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return { ...certificateOf(socket), ...(bearerToken === undefined ? {} : { bearerToken }) };
}

function certificateOf(socket: TLSSocket): Credentials {
  const certificate = socket.getPeerCertificate();
  if (!certificate?.subject) return {};
  if (!socket.authorized) return { hasInvalidCertificate: true };
  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  return {
    certificate: {
      commonName: [CN].flat().at(-1) ?? '',
      organizations: O === undefined ? [] : [O].flat(),
      sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    },
  };
}

/** Splits a request's URL into path and query. Never throws, whatever a client sends. */
export function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '', ...rest] = url.split('?');
  return { path: path === '' ? '/' : path, query: new URLSearchParams(rest.join('?')) };
}
