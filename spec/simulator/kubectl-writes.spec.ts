import { expect } from 'chai';
import { stringify } from 'yaml';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { WIDGETS } from '#spec/support/widget-definition.ts';

const WIDGET = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec: { colour: 'red' },
};
const DEPLOYMENT = deployment('web', 2);

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const containers = [
    { name: 'main', image: 'a' },
    { name: 'side', image: 'b' },
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

describe('the real kubectl, writing', () => {
  let server: SimulatedApiServer;
  let kubectl: Kubectl;
  let files: TemporaryDirectory;

  before(async () => {
    server = await startSimulatedApiServer({ scenario: { nodes: 1, podsPerNode: 0 } });
    kubectl = new Kubectl(await findKubectl(), server.kubeconfig);
    files = await TemporaryDirectory.create();
  });
  after(async () => {
    await files[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const run = async (...args: string[]) => {
    const { stdout, stderr, exitStatus } = await kubectl.run(args);
    expect(exitStatus, `kubectl ${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  };
  const fail = async (...args: string[]) => {
    const { stderr, exitStatus } = await kubectl.run(args);
    expect(exitStatus, `kubectl ${args.join(' ')}`).not.to.equal(0);
    return stderr;
  };
  const file = (name: string, object: unknown) => files.write(`${name}.yaml`, stringify(object));

  it('applies the manifests of the autoscaler with roles and APIServices twice', async () => {
    const overlay = ['-k', 'manifests/overlays/autoscaler'];
    expect(await run('apply', ...overlay)).to.contain('autoscaler:system:auth-delegator created');
    const again = (await run('apply', ...overlay)).trim().split('\n');
    expect(
      again.filter((line) => /rbac|apiregistration/.test(line) && !line.endsWith(' unchanged')),
    ).to.deep.equal([]);
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] };
    const odd = await file('role', { ...rbac, metadata: { name: 'a%b' } });
    expect(await fail('apply', '-f', odd)).to.contain("may not contain '%'");
    await run('delete', ...overlay);
  });

  describe('custom resources', () => {
    before(async () => {
      expect(await run('create', '-f', await file('crd', WIDGETS))).to.match(/widgets\.example\.com created/);
      await run('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=10s');
    });

    it('creates, gets, scales, patches and deletes them', async () => {
      await run('create', '-f', await file('widget', WIDGET));
      expect(await run('get', 'wd')).to.match(/^NAME +COLOUR +READY +AGE\nw +red +\S* *\d+s\n$/);
      await run('scale', '--replicas=3', 'widget/w');
      expect(await run('get', 'widget', 'w', '-o', 'jsonpath={.spec.replicas}')).to.equal('3');
      await run('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"colour":"blue"}}');
      await run(
        'patch',
        'widget',
        'w',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"replicas":3}}',
      );
      expect(await run('get', 'widget', 'w', '-o', 'jsonpath={.spec.colour}{.status.replicas}')).to.equal(
        'blue3',
      );
      await run('delete', 'widget', 'w', '--timeout=10s');
      expect(await fail('get', 'widget', 'w')).to.equal(
        'Error from server (NotFound): widgets.example.com "w" not found\n',
      );
    });

    it('applies them, by itself and by the server', async () => {
      const path = await file('applied', { ...WIDGET, metadata: { name: 'applied' } });
      expect(await run('apply', '-f', path)).to.equal('widget.example.com/applied created\n');
      expect(await run('apply', '-f', path)).to.equal('widget.example.com/applied unchanged\n');
      const changed = await file('changed', {
        ...WIDGET,
        metadata: { name: 'applied' },
        spec: { colour: 'blue' },
      });
      expect(await run('diff', '-f', path)).to.equal('');
      expect(await run('apply', '-f', changed)).to.equal('widget.example.com/applied configured\n');
      expect(await fail('apply', '--server-side', '--field-manager=other', '-f', path)).to.match(
        /Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.com\/v1: .spec.colour/,
      );
      expect(
        await run('apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', path),
      ).to.equal('widget.example.com/applied serverside-applied\n');
    });

    it('applies several in one list', async () => {
      const items = ['first', 'second'].map((name) => ({ ...WIDGET, metadata: { name } }));
      const path = await file('list', { apiVersion: 'v1', kind: 'List', items });
      expect(await run('apply', '-f', path)).to.equal(
        'widget.example.com/first created\nwidget.example.com/second created\n',
      );
    });

    it('receives the errors of invalid ones', async () => {
      expect(
        await fail('create', '-f', await file('bad', { ...WIDGET, spec: { colour: 'green' } })),
      ).to.match(
        /The Widget "w" is invalid: spec.colour: Unsupported value: "green": supported values: "red", "blue"/,
      );
      const unknown = { ...WIDGET, spec: { colour: 'red', sise: 1 } };
      expect(await fail('apply', '-f', await file('unknown', unknown))).to.match(/unknown field "spec.sise"/);
    });

    it('explains them', async () => {
      const text = await run('explain', 'widget.spec');
      expect(text).to.match(/^GROUP: +example\.com\nKIND: +Widget\nVERSION: +v1/);
      expect(text)
        .to.match(/colour\s+<string> -required-/)
        .and.to.match(/How it looks\./);
      expect(await run('explain', 'widget', '--recursive')).to.match(/conditions\s+<\[\]Object>/);
    });
  });

  describe('Deployments', () => {
    it('creates, gets, scales, patches and deletes them', async () => {
      await run('create', '-f', await file('made', deployment('made', 2)));
      await run('rollout', 'status', 'deployment/made', '--timeout=20s');
      expect(await run('get', 'deployment', 'made')).to.match(
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nmade +2\/2 +2 +2 +/,
      );
      await run('scale', 'deployment', 'made', '--replicas=4');
      expect(await run('get', 'pods', '-l', 'app=made', '-o', 'name')).to.match(/^(pod\/made-\w+-\w+\n){4}$/);
      await run('set', 'image', 'deployment/made', 'main=y');
      await run('rollout', 'status', 'deployment/made', '--timeout=20s');
      await run('patch', 'deployment', 'made', '-p', '{"metadata":{"labels":{"a":"b"}}}');
      expect(await run('get', 'deploy', '-l', 'a=b', '-o', 'name')).to.equal('deployment.apps/made\n');
      await run('delete', 'deployment', 'made', '--timeout=10s');
      expect(await run('get', 'pods', '-l', 'app=made', '-o', 'name')).to.equal('');
    });

    it('applies them, with lists merged by their keys', async () => {
      const path = await file('web', DEPLOYMENT);
      expect(await run('apply', '-f', path)).to.equal('deployment.apps/web created\n');
      expect(await run('apply', '-f', path)).to.equal('deployment.apps/web unchanged\n');
      const { spec } = DEPLOYMENT;
      const one = {
        ...spec,
        template: { ...spec.template, spec: { containers: [{ name: 'main', image: 'c' }] } },
      };
      expect(await run('apply', '-f', await file('one', { ...DEPLOYMENT, spec: one }))).to.equal(
        'deployment.apps/web configured\n',
      );
      expect(
        await run('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}'),
      ).to.equal('c');
      await run('apply', '--server-side', '--force-conflicts', '-f', path);
      expect(
        await run('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].name}'),
      ).to.equal('main side');
    });

    it('are scaled by an autoscaler of any version', async () => {
      const autoscaler = {
        apiVersion: 'autoscaling/v1',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'busy' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
          minReplicas: 2,
          maxReplicas: 5,
          targetCPUUtilizationPercentage: 60,
        },
      };
      await run('apply', '-f', await file('hpa', autoscaler));
      const target = '{.spec.metrics[0].resource.target.averageUtilization}';
      expect(await run('get', 'hpa', 'busy', '-o', `jsonpath=${target}`)).to.equal('60');
      const v1 = [
        'get',
        'horizontalpodautoscalers.v1.autoscaling',
        'busy',
        '-o',
        'jsonpath={.spec.targetCPUUtilizationPercentage}',
      ];
      expect(await run(...v1)).to.equal('60');
      await run('patch', 'hpa', 'busy', '--type=merge', '-p', '{"spec":{"maxReplicas":7}}');
      expect(await run('get', 'hpa', 'busy', '-o', 'jsonpath={.spec.maxReplicas}')).to.equal('7');
    });
  });
});
