/** Series of every Node process, which a reference need not list. */
const PROCESS = /^(?:process|nodejs)_/;

/** Labels of families without a sample until a rare event. */
const RARE_LABELS: Readonly<Record<string, readonly string[]>> = {
  apiserver_delegated_authn_request_duration_seconds: ['code'],
  apiserver_delegated_authn_request_total: ['code'],
  apiserver_delegated_authz_request_duration_seconds: ['code'],
  apiserver_delegated_authz_request_total: ['code'],
  apiserver_delegated_refused_reviews_total: ['kind'],
  apiserver_refused_requests_total: ['reason'],
  authentication_token_cache_request_total: ['status'],
  autoscaler_hpa_at_max_since_timestamp_seconds: ['name', 'namespace'],
  autoscaler_hpa_direction_changes_total: ['name', 'namespace'],
  autoscaler_hpa_dry_run_decisions_total: ['agrees'],
  autoscaler_hpa_min_replicas_adjustments_total: ['name', 'namespace'],
  autoscaler_hpa_recommended_min_replicas: ['name', 'namespace'],
  keda_scaler_empty_upstream_responses_total: [
    'ignoreNullValues',
    'metricName',
    'namespace',
    'resourceType',
    'scaledResource',
    'triggerName',
  ],
  keda_webhook_scaled_object_validation_errors_total: ['action', 'namespace', 'reason'],
  keda_webhook_scaled_object_validations_total: ['action', 'namespace'],
  metrics_server_kubelet_excessive_responses_total: ['bound'],
  metrics_server_stage_failures_total: ['stage'],
};

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: ReadonlySet<string>;
}

/**
 * The families of an exposition in Prometheus' text format as a table: name, type, labels and help.
 *
 * Labels are those of its samples; of families without a sample, those of `RARE_LABELS`.
 */
export function formatSeriesTable(exposition: string): string {
  const rows = readFamilies(exposition)
    .filter(({ name }) => !PROCESS.test(name))
    .map(({ name, type, labels, help }) => {
      const all = labels.size > 0 ? [...labels] : (RARE_LABELS[name] ?? []);
      const named = all.map((label) => `\`${label}\``).join(' ');
      return `| \`${name}\` | ${type} | ${named} | ${help.replaceAll('|', '\\|')} |`;
    });
  return ['| series | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows.sort(), ''].join('\n');
}

function readFamilies(exposition: string): readonly Family[] {
  return exposition.split(/^(?=# HELP )/m).flatMap((text) => {
    const [, name = '', help = ''] = /^# HELP (\S+) (.*)$/m.exec(text) ?? [];
    const [, type] = /^# TYPE \S+ (\S+)$/m.exec(text) ?? [];
    if (name === '' || type === undefined) return [];
    const samples = [...text.matchAll(/^[^#\s{]+\{(.*)\} \S+$/gm)];
    const labels = samples.flatMap(([, inside = '']) =>
      [...inside.matchAll(/([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g)].map(([, label = '']) => label),
    );
    return [{ name, type, help, labels: new Set(labels.filter((label) => label !== 'le').sort()) }];
  });
}
