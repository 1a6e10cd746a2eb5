import type { AzureAd, RemoteRead, RemoteWrite } from '../objects/prometheus.ts';
import { mapAll, refuse, within } from '../objects/refusal.ts';
import type { References } from '../selection/references.ts';
import { type Block, block, type FieldNames, renameFields } from './block.ts';
import { checkUrl } from './check-url.ts';
import type { ConfigurationContext } from './configuration-context.ts';
import { writeAuthentication, writeProxy, writeTls } from './credentials.ts';
import { writeRelabelings } from './relabelings.ts';

const REMOTE_WRITE_FIELDS: FieldNames<RemoteWrite> = {
  url: 'url',
  remoteTimeout: 'remote_timeout',
  headers: 'headers',
  name: 'name',
  sendExemplars: 'send_exemplars',
  sendNativeHistograms: 'send_native_histograms',
  followRedirects: 'follow_redirects',
  enableHTTP2: 'enable_http2',
  roundRobinDNS: 'round_robin_dns',
};

const QUEUE_FIELDS: FieldNames<NonNullable<RemoteWrite['queueConfig']>> = {
  capacity: 'capacity',
  minShards: 'min_shards',
  maxShards: 'max_shards',
  maxSamplesPerSend: 'max_samples_per_send',
  batchSendDeadline: 'batch_send_deadline',
  minBackoff: 'min_backoff',
  maxBackoff: 'max_backoff',
  retryOnRateLimit: 'retry_on_http_429',
  sampleAgeLimit: 'sample_age_limit',
};

const METADATA_FIELDS: FieldNames<NonNullable<RemoteWrite['metadataConfig']>> = {
  send: 'send',
  sendInterval: 'send_interval',
  maxSamplesPerSend: 'max_samples_per_send',
};

const MESSAGES = { 'V1.0': 'prometheus.WriteRequest', 'V2.0': 'io.prometheus.write.v2.Request' } as const;

/** @throws {Refusal} for a server that Prometheus would refuse, or credentials that do not exist */
export function writeRemoteWrite(context: ConfigurationContext): readonly Block[] {
  const { spec } = context.prometheus;
  return mapAll(spec.remoteWrite ?? [], (remote, index) =>
    within(`remoteWrite[${index}]`, () => {
      const { queueConfig, metadataConfig, messageVersion, azureAd } = remote;
      const own = context.references(context.prometheus.namespace);
      return block({
        ...renameFields(remote, REMOTE_WRITE_FIELDS),
        protobuf_message: messageVersion && MESSAGES[messageVersion],
        write_relabel_configs: within('writeRelabelConfigs', () =>
          writeRelabelings(remote.writeRelabelConfigs, context.version),
        ),
        ...writeStorageClient(remote, context),
        azuread: azureAd && within('azureAd', () => writeAzureAd(azureAd, own)),
        queue_config: queueConfig && withoutZeros(renameFields(queueConfig, QUEUE_FIELDS)),
        metadata_config: metadataConfig && writeMetadata(metadataConfig),
      });
    }),
  );
}

/** Prometheus sends metadata by default, but an object with `metadataConfig` only if it has `send`. */
function writeMetadata(metadata: NonNullable<RemoteWrite['metadataConfig']>): Block {
  return { send: metadata.send ?? false, ...withoutZeros(renameFields(metadata, METADATA_FIELDS)) };
}

function withoutZeros(fields: Block): Block {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== 0));
}

const REMOTE_READ_FIELDS: FieldNames<RemoteRead> = {
  url: 'url',
  remoteTimeout: 'remote_timeout',
  headers: 'headers',
  name: 'name',
  requiredMatchers: 'required_matchers',
  readRecent: 'read_recent',
  followRedirects: 'follow_redirects',
  filterExternalLabels: 'filter_external_labels',
};

/** @throws {Refusal} for a server that Prometheus would refuse, or credentials that do not exist */
export function writeRemoteRead(context: ConfigurationContext): readonly Block[] {
  return mapAll(context.prometheus.spec.remoteRead ?? [], (remote, index) =>
    within(`remoteRead[${index}]`, () =>
      block({ ...renameFields(remote, REMOTE_READ_FIELDS), ...writeStorageClient(remote, context) }),
    ),
  );
}

function writeStorageClient(remote: RemoteRead | RemoteWrite, context: ConfigurationContext): Block {
  const own = context.references(context.prometheus.namespace);
  const { tlsConfig } = remote;
  checkUrl('url', remote.url);
  return {
    ...writeAuthentication(remote, own),
    tls_config: tlsConfig && within('tlsConfig', () => writeTls(tlsConfig, own)),
    ...writeProxy(remote, own),
  };
}

const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

function writeAzureAd({ cloud, managedIdentity, oauth, sdk }: AzureAd, own: References): Block {
  const given = [managedIdentity, oauth, sdk].filter((one) => one !== undefined);
  if (given.length !== 1) refuse('exactly one of managedIdentity, oauth and sdk must be configured');
  if (oauth !== undefined && !UUID.test(oauth.clientId))
    refuse('the provided Azure OAuth clientId is invalid');
  return block({
    cloud,
    managed_identity: managedIdentity && { client_id: managedIdentity.clientId ?? '' },
    oauth: oauth && {
      client_id: oauth.clientId,
      client_secret: own.secret(oauth.clientSecret),
      tenant_id: oauth.tenantId,
    },
    sdk: sdk && block({ tenant_id: sdk.tenantId }),
  });
}
