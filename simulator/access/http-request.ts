import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Credentials } from './authenticator.ts';

/** Reads the credentials of a request and its connection, whose TLS requested a client certificate. */
export function credentialsOf(socket: TLSSocket, headers: IncomingHttpHeaders): Credentials {
  const bearerToken = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return { ...certificateOf(socket), ...(bearerToken === undefined ? {} : { bearerToken }) };
}

type Certificate = NonNullable<Credentials['certificate']>;

const MAX_CERTIFICATES = 1_000;
/** Subjects by fingerprint: Node takes ten times as long to read a certificate as to compute its fingerprint. */
const certificates = new Map<string, Certificate>();

function certificateOf(socket: TLSSocket): Credentials {
  const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
  if (fingerprint === undefined) return {};
  if (!socket.authorized) return { hasInvalidCertificate: true };
  const certificate = certificates.get(fingerprint) ?? readCertificate(socket);
  if (certificates.size >= MAX_CERTIFICATES) certificates.clear();
  certificates.set(fingerprint, certificate);
  return { certificate };
}

function readCertificate(socket: TLSSocket): Certificate {
  const { subject, fingerprint256 } = socket.getPeerCertificate();
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] };
  return {
    commonName: [CN].flat().at(-1) ?? '',
    organizations: O === undefined ? [] : [O].flat(),
    sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

/** Splits a request's URL into path and query. Never throws, whatever a client sends. */
export function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '', ...rest] = url.split('?');
  return { path: path === '' ? '/' : path, query: new URLSearchParams(rest.join('?')) };
}
