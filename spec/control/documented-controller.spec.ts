import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { type Controller, runController } from '#lib/control/controller.ts';
import { EventRecorder } from '#lib/control/event-recorder.ts';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { eventually } from '#spec/support/eventually.ts';
import { type SimulatedApi, startSimulatedApi, type Widget } from '#spec/support/simulated-api.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const NAME = { namespace: 'default', name: 'a' };

describe('the controller in docs/contributing/controllers.md', () => {
  let stack: AsyncDisposableStack;
  let served: SimulatedApi;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    served = stack.use(await startSimulatedApi());
    const { api, mapper, clock, logger, widgets } = served;
    const informers = stack.use(new SharedInformers({ client: api, mapper, clock, logger }));
    const source = { controller: 'widget-controller', instance: 'spec' };
    const events = stack.use(new EventRecorder({ api, mapper, clock, logger, source }));
    const scales = new ScaleClient({ api, mapper, clock });
    const controller = (await documentedController())({ informers, widgets, scales, events, clock });
    const ending = new AbortController();
    const running = runController(controller, { clock, logger, signal: ending.signal });
    stack.defer(async () => {
      ending.abort(new Error('the spec is over'));
      await running;
    });
  });

  afterEach(async () => {
    await stack.disposeAsync();
    expect(served.clock.sleeperCount).to.equal(0);
  });

  const replicas = async () => {
    const deployment = await served.api.getJson(`${DEPLOYMENTS}/web`);
    return (deployment as { spec: { replicas: number } }).spec.replicas;
  };

  async function widgetWhen(condition: (status: Widget['status']) => boolean): Promise<Widget> {
    let found: Widget | undefined;
    await eventually(async () => {
      await served.clock.advance(1);
      found = await served.widgets.find(NAME);
      return condition(found?.status);
    });
    return found ?? expect.fail();
  }

  it('scales a Deployment to the replicas of a Widget, records an event, and follows changes of both', async () => {
    await served.api.postJson(DEPLOYMENTS, deployment('web', 1));
    const body = { metadata: NAME, spec: { deployment: 'web', size: 3 } };
    await served.widgets.create(body);
    const reported = await widgetWhen((status) =>
      JSON.stringify(status ?? {}).includes('web has 3 replicas'),
    );
    expect(reported.status?.conditions).to.have.length(1);
    expect(await replicas()).to.equal(3);
    await served.widgets.patch(NAME, { type: 'merge', body: { spec: { size: 5 } } });
    await eventually(async () => {
      await served.clock.advance(1);
      return (await replicas()) === 5;
    });
    const path = `${DEPLOYMENTS}/web`;
    const contentType = 'application/merge-patch+json';
    await served.api.requestJson({ method: 'PATCH', path, contentType, body: { spec: { replicas: 2 } } });
    await eventually(async () => {
      await served.clock.advance(1);
      return (await replicas()) === 5;
    });
    const list = await served.api.getJson('/apis/events.k8s.io/v1/namespaces/default/events');
    expect(JSON.stringify(list)).to.contain('from 1 to 3 replicas').and.contain('"reason":"Scaled"');
    expect(served.logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('reports a missing Deployment, and continues when it exists', async () => {
    await served.widgets.create({ metadata: NAME, spec: { deployment: 'web', size: 3 } });
    await widgetWhen((status) => JSON.stringify(status ?? {}).includes('Deployment web not found'));
    await served.api.postJson(DEPLOYMENTS, deployment('web', 1));
    await widgetWhen((status) => JSON.stringify(status ?? {}).includes('web has 3 replicas'));
    expect(await replicas()).to.equal(3);
  });
});

/** The function that the page exports, unchanged. */
async function documentedController(): Promise<(dependencies: object) => Controller> {
  const page = await readFile('docs/contributing/controllers.md', 'utf8');
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = code.split('\n').filter((line) => line !== '' && !line.startsWith('import '));
  expect(lines.length).to.be.within(40, 75);
  await mkdir('.cache', { recursive: true }); // in the package, so that #lib/ resolves
  const directory = await mkdtemp(resolve('.cache/documented-controller-'));
  try {
    const path = join(directory, 'controller.ts');
    await writeFile(path, code);
    const { widgetController } = await import(pathToFileURL(path).href);
    return widgetController;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function deployment(name: string, count: number): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: count,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
}
