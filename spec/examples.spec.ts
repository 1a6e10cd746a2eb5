import { globSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { eventually } from '#spec/support/eventually.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { startWatchedAutoscaler, type WatchedAutoscaler } from '#spec/support/watched-autoscaler.ts';

const FOLDERS = readdirSync('examples', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [`examples/${entry.name}`] : [],
);
const SCHEDULES = 'manifests/components/scaling-schedule';
/** Where no process listens; in place of the hosts of examples, so that no name is resolved. */
const NOWHERE = '127.0.0.1:9';
const FLAGS = [`--prometheus-server=http://${NOWHERE}`, '--scaling-schedule'];

interface ExampleObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly triggers?: readonly { readonly type: string }[] };
}

describe('examples', () => {
  for (const folder of FOLDERS) {
    it(`${folder} is accepted by the API server and used by the autoscaler`, async () => {
      await using autoscaler = await startWatchedAutoscaler(FLAGS);
      await using copies = await TemporaryDirectory.create();
      const kubectl = new Kubectl(await findKubectl(), autoscaler.server.kubeconfig);
      const apply = async (path: string) => {
        const { exitStatus, stderr } = await kubectl.run(['apply', '-f', path]);
        expect(exitStatus, stderr).to.equal(0);
      };
      if (folder.endsWith('/scaling-schedule'))
        for (const name of ['scaling-schedule', 'cluster-scaling-schedule'])
          await apply(`${SCHEDULES}/${name}.yaml`);
      for (const file of globSync(`${folder}/*.yaml`)) {
        const text = readFileSync(file, 'utf8');
        const local = text.replaceAll(/[a-z-]+\.(?:default|monitoring)\b(?::\d+)?/g, NOWHERE);
        await writeFile(join(copies.path, basename(file)), local);
      }
      await apply(copies.path);
      for (const object of objectsIn(folder)) await expectUsed(object, autoscaler);
    });
  }

  it('have a row each in the table of their page', () => {
    const rows = [...readFileSync('examples/README.md', 'utf8').matchAll(/^\| `([a-z-]+)` \|/gm)];
    expect(rows.map(([, name]) => `examples/${name}`)).to.have.members(FOLDERS);
  });

  it('have an object for each trigger', () => {
    const used = new Set(
      objectsIn('examples/scale-by-events').flatMap(({ spec }) =>
        (spec?.triggers ?? []).map(({ type }) => type),
      ),
    );
    const missing = everyTrigger().filter(({ types }) => !types.some((type) => used.has(type)));
    expect(missing.map(({ types }) => types[0])).to.deep.equal([]);
  });
});

/** Expects that the autoscaler can use an object, but for the sources of its metrics, which are not there. */
async function expectUsed(
  { kind, metadata: { name } }: ExampleObject,
  autoscaler: WatchedAutoscaler,
): Promise<void> {
  const query = `namespace=default&name=${name}`;
  if (kind === 'ScaledObject') {
    const path = `/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/${name}`;
    expect(await readyCondition(path, autoscaler), name).to.match(
      /^True |^False TriggerError |Cannot call GetMetricSpec of 127/,
    );
  } else if (kind === 'ScaledJob') {
    const path = `/apis/keda.sh/v1alpha1/namespaces/default/scaledjobs/${name}`;
    expect(await readyCondition(path, autoscaler)).to.match(/^True | TriggerError /);
    await eventually(async () => {
      await autoscaler.elapse(1);
      return (await autoscaler.get(`/debug/scaled-objects?${query}`)).body.includes('connection refused');
    });
  } else if (kind === 'CronHorizontalPodAutoscaler') {
    const path = `/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers/${name}`;
    expect(await readyCondition(path, autoscaler)).to.match(/^True /);
  } else if (kind === 'HorizontalPodAutoscaler') {
    await eventually(async () => {
      await autoscaler.elapse(5); // a definition is looked for every ten seconds
      const { problems } = JSON.parse((await autoscaler.get('/debug/metrics')).body);
      return problems.length === 0;
    });
    const { explanation } = JSON.parse((await autoscaler.get(`/debug/hpa?${query}`)).body);
    expect(explanation.currentReplicas).to.equal(2);
  }
}

/** `STATUS REASON MESSAGE` of the condition Ready, once there is one. */
async function readyCondition(path: string, { server, elapse }: WatchedAutoscaler): Promise<string> {
  let found = '';
  await eventually(async () => {
    await elapse(1);
    const { body } = await server.client.get(path);
    const ready = body.status?.conditions?.find(({ type }: { type: string }) => type === 'Ready');
    found = `${ready?.status} ${ready?.reason} ${ready?.message}`;
    return ready !== undefined && ready.status !== 'Unknown';
  });
  return found;
}

function objectsIn(folder: string): readonly ExampleObject[] {
  return globSync(`${folder}/*.yaml`).flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as ExampleObject),
  );
}
