import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { CHART } from '#spec/support/manifest-objects.ts';

/** The values of metrics-server v0.9's chart, except those of addonResizer and of pod security policies. */
const OF_THE_REFERENCE: Readonly<Record<string, readonly string[]>> = {
  '': [
    'affinity',
    'args',
    'commonLabels',
    'containerPort',
    'defaultArgs',
    'deploymentAnnotations',
    'dnsConfig',
    'extraVolumeMounts',
    'extraVolumes',
    'fullnameOverride',
    'hostUsers',
    'imagePullSecrets',
    'livenessProbe',
    'nameOverride',
    'namespaceOverride',
    'nodeSelector',
    'podAnnotations',
    'podLabels',
    'podSecurityContext',
    'priorityClassName',
    'readinessProbe',
    'replicas',
    'resources',
    'revisionHistoryLimit',
    'schedulerName',
    'securityContext',
    'tmpVolume',
    'tolerations',
    'topologySpreadConstraints',
    'updateStrategy',
  ],
  apiService: ['annotations', 'caBundle', 'create', 'insecureSkipTLSVerify'],
  hostNetwork: ['enabled'],
  image: ['pullPolicy', 'repository', 'tag'],
  metrics: ['enabled'],
  podDisruptionBudget: ['enabled', 'maxUnavailable', 'minAvailable', 'unhealthyPodEvictionPolicy'],
  rbac: ['create'],
  service: ['annotations', 'labels', 'port', 'type'],
  serviceAccount: ['annotations', 'create', 'name', 'secrets'],
  serviceMonitor: [
    'additionalLabels',
    'enabled',
    'interval',
    'metricRelabelings',
    'relabelings',
    'scrapeTimeout',
  ],
  tls: ['clusterDomain', 'type'],
  'tls.certManager': [
    'addInjectorAnnotations',
    'annotations',
    'duration',
    'existingIssuer',
    'labels',
    'renewBefore',
  ],
  'tls.existingSecret': ['lookup', 'name'],
  'tls.helm': ['certDurationDays', 'lookup'],
};

describe("the Helm chart's values", () => {
  it('include those of the reference', async () => {
    const values = parse(await readFile(`${CHART}/values.yaml`, 'utf8'));
    for (const [path, names] of Object.entries(OF_THE_REFERENCE)) {
      const part = path
        .split('.')
        .filter((name) => name !== '')
        .reduce((outer, name) => outer[name], values);
      expect(part, path).to.include.all.keys(names);
    }
  });

  it('are all used', async () => {
    const values = parse(await readFile(`${CHART}/values.yaml`, 'utf8'));
    const templates = await Promise.all(
      (await readdir(`${CHART}/templates`)).map((name) => readFile(`${CHART}/templates/${name}`, 'utf8')),
    );
    const used = new Set([...templates.join('').matchAll(/\.Values\.(\w+)/g)].map(([, name]) => name));
    expect(Object.keys(values).filter((name) => !used.has(name))).to.deep.equal([]);
  });
});
