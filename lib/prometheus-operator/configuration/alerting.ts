import type { AlertmanagerEndpoints } from '../objects/prometheus.ts';
import { mapAll, within } from '../objects/refusal.ts';
import { readAdditional } from './additional-configuration.ts';
import { type Block, block, type FieldNames, renameFields } from './block.ts';
import { type ConfigurationContext, serviceRole } from './configuration-context.ts';
import { writeAuthentication, writeProxy, writeTls } from './credentials.ts';
import { replicaLabel } from './global-settings.ts';
import { writeDiscovery } from './kubernetes-discovery.ts';
import { keepMatching, writeRelabelings } from './relabelings.ts';
import { supports } from './version-gates.ts';

/**
 * Where alerts are sent, and what is removed from them.
 *
 * @throws {Refusal} for Alertmanagers that Prometheus would refuse
 */
export function writeAlerting(context: ConfigurationContext): Block | undefined {
  const { spec } = context.prometheus;
  const additional = readAdditional('additionalAlertManagerConfigs', context);
  const relabelings = readAdditional('additionalAlertRelabelConfigs', context);
  if (spec.alerting === undefined && additional.length === 0 && relabelings.length === 0) return undefined;
  const replica = replicaLabel(spec);
  return {
    alert_relabel_configs: [
      ...(replica === '' ? [] : [{ action: 'labeldrop', regex: quoteRegex(replica) }]),
      ...relabelings,
    ],
    alertmanagers: [
      ...mapAll(spec.alerting?.alertmanagers ?? [], (alertmanager, index) =>
        within(`alertmanager ${index}`, () => writeAlertmanager(alertmanager, context)),
      ),
      ...additional,
    ],
  };
}

const ALERTMANAGER_FIELDS: FieldNames<AlertmanagerEndpoints> = {
  pathPrefix: 'path_prefix',
  timeout: 'timeout',
  enableHttp2: 'enable_http2',
};

function writeAlertmanager(alertmanager: AlertmanagerEndpoints, context: ConfigurationContext): Block {
  const { prometheus, version } = context;
  const { tlsConfig, port } = alertmanager;
  const own = context.references(prometheus.namespace);
  const { role, labelPrefix } = serviceRole(undefined, context);
  const portLabel =
    typeof port === 'number' ? '__meta_kubernetes_pod_container_port_number' : `${labelPrefix}_port_name`;
  const apiVersion = alertmanager.apiVersion?.toLowerCase();
  return block({
    scheme: alertmanager.scheme?.toLowerCase(),
    ...renameFields(alertmanager, ALERTMANAGER_FIELDS),
    tls_config: tlsConfig && within('tlsConfig', () => writeTls(tlsConfig, own)),
    ...writeProxy(alertmanager, own),
    kubernetes_sd_configs: [
      writeDiscovery({ role, namespaces: [alertmanager.namespace || prometheus.namespace] }, context),
    ],
    ...writeAuthentication(alertmanager, own),
    api_version:
      apiVersion === 'v1' && supports('only API v2 of Alertmanager', version) ? undefined : apiVersion,
    relabel_configs: [
      keepMatching('__meta_kubernetes_service_name', alertmanager.name),
      ...(port === '' ? [] : [keepMatching(portLabel, String(port))]),
      ...within('invalid relabelings', () => writeRelabelings(alertmanager.relabelings, version)),
    ],
    alert_relabel_configs: within('invalid alertRelabelings', () =>
      writeRelabelings(alertmanager.alertRelabelings, version),
    ),
  });
}

function quoteRegex(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
