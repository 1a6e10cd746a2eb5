import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Decoded } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type {
  Authorization,
  BASIC_AUTH,
  OAuth2,
  ObjectKey,
  ProxyConfig,
  SecretOrConfigMap,
  SigV4,
  TlsConfig,
} from '../objects/common-fields.ts';
import { refuse, within } from '../objects/refusal.ts';
import type { References } from '../selection/references.ts';
import { type Block, block } from './block.ts';
import { checkUrl } from './check-url.ts';

type BasicAuth = Decoded<typeof BASIC_AUTH>;

/** How a client of Prometheus authenticates. An object with two of them is refused. */
export interface ClientAuthentication {
  readonly basicAuth?: BasicAuth | undefined;
  readonly authorization?: Authorization | undefined;
  readonly oauth2?: OAuth2 | undefined;
  readonly bearerTokenSecret?: ObjectKey | undefined;
  readonly bearerTokenFile?: string | undefined;
  readonly bearerToken?: string | undefined;
  readonly sigv4?: SigV4 | undefined;
  readonly azureAd?: object | undefined;
}

/** In the order in which reasons name them. */
const KINDS = [
  ...(['authorization', 'basicAuth', 'bearerToken', 'bearerTokenFile', 'bearerTokenSecret'] as const),
  ...(['oauth2', 'sigv4', 'azureAd'] as const),
];

/**
 * Writes how a client authenticates, with credentials in plain text, as Prometheus reads them.
 *
 * @throws {Refusal} for two kinds of authentication, which Prometheus refuses with its whole configuration, and for credentials
 * that do not exist
 */
export function writeAuthentication(authentication: ClientAuthentication, references: References): Block {
  const [one, other] = KINDS.filter((kind) => isGiven(authentication, kind));
  if (one !== undefined && other !== undefined)
    refuse(`${one} and ${other} cannot be configured at the same time`);
  const { basicAuth, authorization, oauth2, bearerTokenSecret, sigv4 } = authentication;
  return block({
    basic_auth: basicAuth && within('basicAuth', () => writeBasicAuth(basicAuth, references)),
    authorization:
      authorization && within('authorization', () => writeAuthorization(authorization, references)),
    oauth2: oauth2 && within('oauth2', () => writeOAuth2(oauth2, references)),
    bearer_token:
      bearerTokenSecret && bearerTokenSecret.name !== ''
        ? within('bearerTokenSecret', () => references.secret(bearerTokenSecret))
        : authentication.bearerToken,
    bearer_token_file: authentication.bearerTokenFile,
    sigv4: sigv4 && within('sigv4', () => writeSigV4(sigv4, references)),
  });
}

function isGiven(authentication: ClientAuthentication, kind: (typeof KINDS)[number]): boolean {
  const value = authentication[kind];
  if (kind === 'bearerTokenSecret') return (authentication.bearerTokenSecret?.name ?? '') !== '';
  return value !== undefined && value !== '';
}

function writeBasicAuth({ username, password }: BasicAuth, references: References): Block {
  const read = (what: string, key: ObjectKey | undefined) =>
    key && within(`failed to get basic auth ${what}`, () => references.secret(key));
  return block({ username: read('username', username), password: read('password', password) });
}

/** Writes authorization by a header. */
export function writeAuthorization(
  { type = '', credentials, credentialsFile }: Authorization,
  references: References,
): Block {
  if (type.trim().toLowerCase() === 'basic')
    refuse('authorization type cannot be set to "basic", use "basicAuth" instead');
  if (credentials !== undefined && credentialsFile)
    refuse('credentials and credentialsFile cannot be configured at the same time');
  if (credentials === undefined && !credentialsFile) refuse('authorization credentials are required');
  return block({
    type: type.trim() === '' ? 'Bearer' : type.trim(),
    credentials:
      credentials &&
      within(`failed to get authorization token of type "${type}"`, () => references.secret(credentials)),
    credentials_file: credentialsFile,
  });
}

function writeOAuth2(oauth2: OAuth2, references: References): Block {
  const { clientId, clientSecret, tokenUrl, scopes, endpointParams, tlsConfig } = oauth2;
  if (clientId.secret === undefined && clientId.configMap === undefined)
    refuse('OAuth2 clientID must be specified');
  requireOne('clientId', clientId);
  checkUrl('tokenUrl', tokenUrl);
  return block({
    client_id: within('failed to get oauth2 client id', () => references.either(clientId)),
    client_secret: within('failed to get oauth2 client secret', () => references.secret(clientSecret)),
    token_url: tokenUrl,
    scopes,
    endpoint_params: endpointParams,
    ...writeProxy(oauth2, references),
    tls_config: tlsConfig && within('tlsConfig', () => writeTls(tlsConfig, references)),
  });
}

function writeSigV4(sigv4: SigV4, references: References): Block {
  const { region, accessKey, secretKey, profile, roleArn, useFIPSSTSEndpoint } = sigv4;
  if ((accessKey === undefined) !== (secretKey === undefined))
    refuse('both accessKey and secretKey should be provided');
  return block({
    region,
    access_key: accessKey && references.secret(accessKey),
    secret_key: secretKey && references.secret(secretKey),
    profile,
    role_arn: roleArn,
    use_fips_sts_endpoint: useFIPSSTSEndpoint,
  });
}

/**
 * Writes the proxy through which a client connects.
 *
 * @throws {Refusal} for fields that contradict each other, and for headers that do not exist
 */
export function writeProxy(
  { proxyUrl, noProxy, proxyFromEnvironment, proxyConnectHeader }: ProxyConfig,
  references: References,
): Block {
  const headers = Object.entries(proxyConnectHeader ?? {});
  checkUrl('proxyUrl', proxyUrl);
  if (proxyFromEnvironment && proxyUrl)
    refuse('if proxyFromEnvironment is configured, proxyUrl must not be configured');
  if (proxyFromEnvironment && noProxy)
    refuse('if proxyFromEnvironment is configured, noProxy must not be configured');
  if (headers.length > 0 && !proxyUrl && !proxyFromEnvironment)
    refuse('if proxyConnectHeader is configured, proxyUrl or proxyFromEnvironment must also be configured');
  if (noProxy && !proxyUrl) refuse('if noProxy is configured, proxyUrl must also be configured');
  return block({
    proxy_url: proxyUrl,
    no_proxy: noProxy,
    proxy_from_environment: proxyFromEnvironment,
    proxy_connect_header: Object.fromEntries(
      headers.map(([name, keys]) => [
        name,
        within(`header ${name}`, () => keys.map((key) => references.secret(key))),
      ]),
    ),
  });
}

/** The directory of certificates and keys of objects in the pod of Prometheus. */
const ASSETS = '/etc/prometheus/certs';

/**
 * Writes how a client verifies its server and identifies itself.
 *
 * @throws {Refusal} for fields that contradict each other, and for certificates and keys that do not exist or do not match
 */
export function writeTls(config: TlsConfig, references: References): Block {
  const { ca, cert, keySecret, caFile, certFile, keyFile } = config;
  within('failed to validate TLS configuration', () => checkTls(config));
  const caAsset = ca && writeAsset('ca', ca, references);
  const certAsset = cert && writeAsset('cert', cert, references);
  const key = keySecret && within('failed to get key', () => references.secret(keySecret));
  if (caAsset && !caAsset.isAssumed) within(`ca ${caAsset.label}`, () => parseCertificate(caAsset.text));
  if (certAsset && key !== undefined && keySecret && !certAsset.isAssumed)
    if (!references.isAssumed('Secret', keySecret))
      within(`cert ${certAsset.label}, key <${keySecret.name}/${keySecret.key}>`, () =>
        checkKeyPair(certAsset.text, key),
      );
  return block({
    insecure_skip_verify: config.insecureSkipVerify,
    ca_file: caAsset?.path ?? caFile,
    cert_file: certAsset?.path ?? certFile,
    key_file: keySecret ? assetPath('secret', references.namespace, keySecret) : keyFile,
    server_name: config.serverName,
    min_version: config.minVersion,
    max_version: config.maxVersion,
  });
}

function checkTls(config: TlsConfig): void {
  const { ca, cert, keySecret, caFile, certFile, keyFile, minVersion, maxVersion } = config;
  requireOne('ca', ca);
  requireOne('cert', cert);
  if (hasSource(ca) && caFile) refuse('cannot specify both caFile and ca');
  if (hasSource(cert) && certFile) refuse('cannot specify both certFile and cert');
  if (keySecret && keyFile) refuse('cannot specify both keyFile and keySecret');
  const hasCertificate = hasSource(cert) || Boolean(certFile);
  const hasKey = keySecret !== undefined || Boolean(keyFile);
  if (hasCertificate && !hasKey) refuse('cannot specify client cert without client key');
  if (hasKey && !hasCertificate) refuse('cannot specify client key without client cert');
  if (minVersion !== undefined && maxVersion !== undefined && maxVersion < minVersion)
    refuse('maxVersion must more than or equal to minVersion');
}

function requireOne(name: string, source: SecretOrConfigMap | undefined): void {
  if (source?.secret !== undefined && source.configMap !== undefined)
    refuse(`SecretOrConfigMap ${name}: cannot specify both Secret and ConfigMap`);
}

/** Whether a Secret or ConfigMap is named. */
export function hasSource(source: SecretOrConfigMap | undefined): boolean {
  return source?.secret !== undefined || source?.configMap !== undefined;
}

/** A certificate, and the file of Prometheus' pod that will have it; `undefined` if neither a Secret nor a ConfigMap is named. */
function writeAsset(what: string, source: SecretOrConfigMap, references: References) {
  const { secret, configMap } = source;
  const key = secret ?? configMap;
  if (key === undefined) return undefined;
  const kind = secret ? 'secret' : 'configmap';
  const label = `<${kind}=${key.name},key=${key.key}>`;
  return {
    label,
    text: within(`failed to get ${what} "${label}"`, () => references.either(source)),
    path: assetPath(kind, references.namespace, key),
    isAssumed: references.isAssumed(secret ? 'Secret' : 'ConfigMap', key),
  };
}

function assetPath(kind: 'secret' | 'configmap', namespace: string, { name, key }: ObjectKey): string {
  return `${ASSETS}/${kind === 'secret' ? 0 : 1}_${namespace}_${name}_${key}`;
}

function parseCertificate(pem: string): X509Certificate {
  if (!/-----BEGIN [^-\n]+-----/.test(pem)) return refuse('failed to decode PEM block');
  try {
    return new X509Certificate(pem);
  } catch {
    return refuse('cannot parse the certificate');
  }
}

function checkKeyPair(certificate: string, privateKey: string): void {
  const parsed = parseCertificate(certificate);
  if (!parsed.checkPrivateKey(parsePrivateKey(privateKey)))
    refuse('tls: private key does not match public key');
}

function parsePrivateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    return refuse('cannot parse the private key');
  }
}
