import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ALIBABA_DEFINITION } from '#spec/support/alibaba-definition.ts';
import { findHelm } from '#spec/support/helm.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const PAGES = ['README.md', ...globSync('docs/{tasks,reference}/*.md')];
/** Commands that need a running program, pods with logs, files, or kinds that the simulator does not serve. */
const NEEDS_MORE =
  /^(?:top|wait)\b|\b(?:logs|port-forward|rollout status|can-i|create token|exec|keda-hpa|validatingwebhookconfiguration)\b|--(?:server |raw\b|cert=)/;
/** Objects and folders that pages assume to exist. */
const EXISTING = {
  folders: ['manifests/overlays/release', 'manifests/overlays/autoscaler-scaled-objects'],
  examples: ['scale-by-the-clock/web.yaml', 'tune-an-hpa/web.yaml', 'scale-by-events/metrics-api.yaml'],
  namespaces: ['shop', 'monitoring'],
  deployments: {
    'kube-system': ['cron-hpa', 'kubernetes-cronhpa-controller'],
    keda: ['keda-operator', 'keda-metrics-apiserver', 'keda-admission-webhooks'],
    monitoring: ['prometheus-adapter'],
  },
};

describe('commands in pages', () => {
  let server: SimulatedApiServer;
  let kubectl: Kubectl;

  before(async () => {
    server = await startSimulatedApiServer();
    kubectl = new Kubectl(await findKubectl(), server.kubeconfig);
    const { folders, examples, namespaces, deployments } = EXISTING;
    for (const folder of folders) await run('apply', '-k', folder);
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await server.client.post(definitions, ALIBABA_DEFINITION);
    for (const name of [...namespaces, ...Object.keys(deployments)])
      await server.client.post('/api/v1/namespaces', { metadata: { name } });
    for (const [namespace, names] of Object.entries(deployments))
      for (const name of names)
        await server.client.post(`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment(name));
    for (const example of examples) await run('apply', '-f', join('examples', example));
    await run('apply', '-f', 'examples/scale-by-prometheus-query');
  });

  after(() => server[Symbol.asyncDispose]());

  for (const page of PAGES) {
    const commands = commandsIn(readFileSync(page, 'utf8'));
    const runnable = commands.filter(([program, ...args]) => {
      return program === 'helm' || !NEEDS_MORE.test(args.join(' '));
    });
    if (runnable.length === 0) continue;
    it(`of ${page} are accepted by kubectl, helm and the API server`, async () => {
      for (const [program, ...args] of runnable) await (program === 'helm' ? render(args) : run(...args));
    });
  }

  it('are found with their continued lines, and without what the shell does', () => {
    const page =
      '```console\n$ kubectl create role a \\\n    --verb=get\n$ kubectl get hpa -A | grep x\n$ npm i\n```\n';
    expect(commandsIn(page)).to.deep.equal([
      ['kubectl', 'create', 'role', 'a', '--verb=get'],
      ['kubectl', 'get', 'hpa', '-A'],
    ]);
    expect(commandsIn("   ```console\n   $ kubectl get --raw '/a?b' &\n   ```\n")).to.deep.equal([
      ['kubectl', 'get', '--raw', '/a?b'],
    ]);
  });

  async function run(...args: readonly string[]): Promise<void> {
    // kubectl writes these in protobuf, which the simulator does not read: kubectl alone judges them, by discovery.
    const isProtobuf = /\bcreate [a-z]/.test(args.join(' '));
    const { exitStatus, stderr } = await kubectl.run([...args, ...(isProtobuf ? ['--dry-run=client'] : [])]);
    if (!/\(AlreadyExists\)/.test(stderr)) expect(exitStatus, `${args.join(' ')}: ${stderr}`).to.equal(0);
  }

  /** Renders what `helm upgrade` would install: the simulator does not store releases. */
  async function render([, ...args]: readonly string[]): Promise<void> {
    const retained = args.filter(
      (arg) => !['--install', '--reuse-values', '--reset-then-reuse-values'].includes(arg),
    );
    const { exitStatus, stderr } = await runToEnd(await findHelm(), ['template', ...retained], 30_000);
    expect(exitStatus, `${retained.join(' ')}: ${stderr}`).to.equal(0);
  }
});

function deployment(name: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'x' }] } };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
}

/** Finds commands of kubectl and helm in the consoles of a page, each as its words. */
function commandsIn(page: string): readonly (readonly string[])[] {
  const consoles = [...page.matchAll(/^ *```console\n([\s\S]*?)^ *```/gm)].map(([, text = '']) => text);
  return consoles
    .flatMap((text) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
    .flatMap((line) => /^\s*\$ ((?:kubectl|helm) .*)$/.exec(line)?.slice(1, 2) ?? [])
    .map((line) => wordsOf(line.replace(/ (?:\||&).*$/, '').replace('--kubeconfig /tmp/simulated ', '')));
}

/** Splits a line as a shell does, with single and double quotes. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]+)+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));
}
