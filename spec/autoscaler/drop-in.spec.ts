import { expect } from 'chai';
import { type AutoscalerSystem, startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { hpaObject, objectMetric } from '#spec/support/scaled-hpas.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

/** The arguments in kube-metrics-adapter's own Deployment. */
const ARGUMENTS = [
  '--prometheus-server=http://prometheus.kube-system.svc.cluster.local',
  '--skipper-ingress-metrics',
  '--aws-external-metrics',
  '--scaling-schedule',
];
const DEFINITIONS = ['scaling-schedule', 'cluster-scaling-schedule'].map(
  (name) => `manifests/components/scaling-schedule/${name}.yaml`,
);
const SCHEDULE = { apiVersion: 'zalando.org/v1', kind: 'ScalingSchedule', name: 'sale' };
const VALUE = '/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/scalingschedules.zalando.org/sale/load';

describe("the autoscaler, with the arguments of kube-metrics-adapter's Deployment", () => {
  it('serves a metric, describes its API, and counts under the names of kube-metrics-adapter', async () => {
    await using stack = new AsyncDisposableStack();
    const port = await freePort();
    const system: AutoscalerSystem = stack.use(
      await startAutoscalerSystem({
        flags: [...ARGUMENTS, `--secure-port=${port}`],
        prepare: async (kubeconfig) => {
          const kubectl = new Kubectl(await findKubectl(), kubeconfig);
          await run(kubectl, ['apply', ...DEFINITIONS.map((path) => `--filename=${path}`)]);
        },
      }),
    );
    const directory = stack.use(await TemporaryDirectory.create());
    const objects = [schedule(), hpaObject({ metrics: [objectMetric('load', SCHEDULE)] })];
    const file = await directory.write('objects.json', objects.map((one) => JSON.stringify(one)).join('\n'));
    await run(system.kubectl, ['apply', `--filename=${file}`]);
    const get = async (path: string) =>
      await run(system.kubectl, [
        ...[`--server=https://127.0.0.1:${port}`, '--insecure-skip-tls-verify', 'get', '--raw', path],
      ]);
    let served = '';
    await eventually(async () => {
      served = await get(VALUE).catch(() => '');
      return served !== '';
    });
    const [item] = JSON.parse(served).items;
    expect(item).to.deep.include({ metricName: 'load', value: '1k' });
    for (const version of ['custom.metrics.k8s.io/v1beta1', 'external.metrics.k8s.io/v1beta1']) {
      const { paths, components } = JSON.parse(await get(`/openapi/v3/apis/${version}`));
      expect(Object.keys(paths)[0]).to.equal(`/apis/${version}/`);
      expect(Object.keys(paths)[1]).to.include(`/apis/${version}/namespaces/{namespace}/`);
      expect(Object.keys(components.schemas).at(-1)).to.match(/MetricValueList$/);
    }
    expect(await get('/metrics')).to.match(/^kube_metrics_adapter_collections_success [1-9]/m);
  });
});

/** Active now and for an hour. */
function schedule(): object {
  const date = new Date(Date.now() - 60_000).toISOString();
  return {
    ...{ apiVersion: SCHEDULE.apiVersion, kind: SCHEDULE.kind },
    metadata: { name: SCHEDULE.name, namespace: 'default' },
    spec: { schedules: [{ type: 'OneTime', date, durationMinutes: 61, value: 1000 }] },
  };
}

async function run(kubectl: Kubectl, args: readonly string[]): Promise<string> {
  const { exitStatus, stdout, stderr } = await kubectl.run(args);
  if (exitStatus !== 0) throw new Error(`kubectl ${args.join(' ')} fails: ${stderr}`);
  return stdout;
}
