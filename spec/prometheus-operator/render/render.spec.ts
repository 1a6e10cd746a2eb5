import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { render } from '#lib/prometheus-operator/render/render.ts';
import { parseRenderOptions, type RenderOptions } from '#lib/prometheus-operator/render/render-options.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const PROMETHEUS = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: monitoring}
spec:
  version: v2.45.0
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: {matchLabels: {monitored: "yes"}}
`;
const NAMESPACE = `
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {monitored: "yes"}}
`;
const MONITOR = `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  endpoints:
  - port: http
    trackTimestampsStaleness: true
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}
`;
const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: shop}
stringData: {user: alice, password: "on"}
`;

describe('render', () => {
  let folder: TemporaryDirectory;

  beforeEach(async () => {
    folder = await TemporaryDirectory.create();
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const options = (more: Partial<RenderOptions> = {}): RenderOptions => ({
    paths: [folder.path],
    namespace: 'default',
    assumesReferences: false,
    showsSecrets: false,
    ...more,
  });
  const writeAll = (...documents: readonly string[]) => folder.write('all.yaml', documents.join('---'));

  for (const [field, wrong, expected] of [
    ['interval: 30x', 'interval', 'must be a duration, such as 1m30s'],
    [
      'relabelings: [{action: sort}]',
      'relabelings.0.action',
      'must be an action of relabelings, such as replace',
    ],
  ] as const) {
    it(`names the rule that ${wrong} breaks`, async () => {
      await writeAll(
        PROMETHEUS,
        NAMESPACE,
        MONITOR.replace('port: http', `port: http\n    ${field}`),
        SECRET,
      );
      const { refusals } = await render(options());
      expect(refusals.join()).to.match(new RegExp(`spec\\.endpoints\\.0\\.${wrong}: ${expected}$`));
    });
  }

  it('prints the configuration of each Prometheus, from documents of files in all folders', async () => {
    await mkdir(join(folder.path, 'shop'));
    await folder.write('prometheus.yml', [PROMETHEUS, PROMETHEUS.replace('main', 'other')].join('---'));
    await folder.write('shop/objects.yaml', [NAMESPACE, MONITOR, SECRET].join('---'));
    await folder.write('notes.txt', 'no: [');
    const { output, refusals, notes } = await render(options());
    expect([refusals, notes]).to.deep.equal([[], []]);
    const [first = '', second = '', ...more] = output.split('---\n');
    expect(more).to.deep.equal([]);
    expect(first)
      .to.match(/^# Prometheus monitoring\/main\n/)
      .and.to.include('prometheus: monitoring/main\n');
    expect(first).to.include(
      '# Left out, since the version lacks it: scrape_configs.track_timestamps_staleness\n',
    );
    expect(first).to.include('job_name: serviceMonitor/shop/web/0').and.not.to.include('  track_');
    expect(second).to.match(/^# Prometheus monitoring\/other\n/);
  });

  it('prints secrets only if requested, quoted so that Prometheus reads a text', async () => {
    await writeAll(PROMETHEUS, NAMESPACE, MONITOR, SECRET);
    expect((await render(options())).output)
      .to.include('password: <secret>')
      .and.to.include('username: alice');
    expect((await render(options({ showsSecrets: true }))).output).to.include('password: "on"');
  });

  it('reports the file and line of an object that is left out, and all of its reasons', async () => {
    const broken = MONITOR.replace('- port: http', '- port: http\n    scrapeTimeout: 31s\n  - port: http');
    await writeAll(PROMETHEUS, NAMESPACE, broken);
    const { output, refusals } = await render(options());
    expect(refusals).to.deep.equal([
      `${folder.path}/all.yaml:14: ServiceMonitor shop/web is left out of Prometheus monitoring/main: ` +
        'endpoints[0]: scrapeTimeout "31s" greater than scrapeInterval "30s"; ' +
        'endpoints[1]: basicAuth: failed to get basic auth username: unable to get secret "login": secrets "login" not found',
    ]);
    expect(output).to.include('scrape_configs: []');
  });

  it('assumes absent Secrets to exist if requested, but not keys of those that do', async () => {
    await writeAll(PROMETHEUS, NAMESPACE, MONITOR);
    const assuming = options({ assumesReferences: true });
    const { output, refusals } = await render(assuming);
    expect(refusals).to.deep.equal([]);
    expect(output).to.include('username: <secret shop/login, key user>');
    await writeAll(PROMETHEUS, NAMESPACE, MONITOR, SECRET.replace('user:', 'name:'));
    expect((await render(assuming)).refusals.join()).to.include('key "user" in secret "login" not found');
  });

  it('reports documents and objects that it cannot read, and configures the others', async () => {
    await writeAll(
      PROMETHEUS,
      NAMESPACE,
      SECRET,
      MONITOR,
      '\na: [1\n',
      MONITOR,
      MONITOR.replace('name: web', 'name: typed').replace('port: http', 'port: 80'),
      '\njust text\n',
      '\n',
    );
    const { output, refusals } = await render(options());
    expect(output).to.include('job_name: serviceMonitor/shop/web/0').and.not.to.include('typed');
    const places = refusals.map((line) => line.slice(folder.path.length + 1));
    expect(places).to.have.length(4);
    expect(places[0]).to.match(/^all\.yaml:\d+: bad indent in line \d+$/);
    expect(places[1]).to.match(/^all\.yaml:\d+: ServiceMonitor shop\/web is also in .*all\.yaml:\d+$/);
    expect(places[2]).to.match(/^all\.yaml:\d+: Cannot read the ServiceMonitor: spec\.endpoints\.0\.port: /);
    expect(places[3]).to.match(/^all\.yaml:\d+: not an object of Kubernetes/);
  });

  it('reads lists, gives objects the namespace of the flag, and counts what it does not read', async () => {
    const rule = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: { name: 'a' } };
    const prometheus = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'Prometheus',
      metadata: { name: 'p' },
      spec: { podMonitorSelector: {}, podMonitorNamespaceSelector: null },
    };
    const items = [
      prometheus,
      rule,
      rule,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } },
    ];
    await folder.write('list.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const { output, refusals, notes } = await render(options({ namespace: 'shop' }));
    expect(output).to.include('# Prometheus shop/p\n');
    expect(refusals).to.deep.equal([]);
    expect(notes).to.deep.equal(['Not read: 2 PrometheusRule']);
  });

  it('reports a Prometheus without a configuration, and one whose user writes it', async () => {
    const unmanaged = PROMETHEUS.replace(/ {2}serviceMonitor.*\n/g, '').replace('main', 'own');
    await writeAll(PROMETHEUS.replace('v2.45.0', 'v1.8.2'), unmanaged);
    const { output, refusals } = await render(options());
    expect(output).to.equal(
      '# Prometheus monitoring/own: without selectors, its configuration is not generated\n',
    );
    expect(refusals).to.deep.equal([
      `${folder.path}/all.yaml:2: Prometheus monitoring/main has no configuration: unsupported Prometheus version "v1.8.2"`,
    ]);
  });

  it('fails without a Prometheus, and without the folder', async () => {
    await writeAll(NAMESPACE);
    expect(await errorOf(render(options()))).to.equal(`Cannot find a Prometheus in ${folder.path}`);
    const absent = join(folder.path, 'absent');
    expect(await errorOf(render(options({ paths: [absent] })))).to.match(/^Cannot read .*\/absent: /);
  });

  it('is a command whose exit status is 1 if anything is refused', async () => {
    await writeAll(PROMETHEUS, NAMESPACE, MONITOR);
    const run = (...flags: readonly string[]) =>
      runToEnd(process.execPath, ['lib/main.ts', 'prometheus-operator', 'render', ...flags], 60_000);
    const refusing = await run('-f', folder.path);
    expect(refusing).to.have.property('exitStatus', 1);
    expect(refusing.stderr).to.include('ServiceMonitor shop/web is left out');
    expect(refusing.stdout).to.include('scrape_configs: []');
    const assuming = await run('-f', folder.path, '--assume-references');
    expect(assuming).to.include({ exitStatus: 0, stderr: '' });
    expect(assuming.stdout).to.include('job_name: serviceMonitor/shop/web/0');
  });
});

describe('parseRenderOptions', () => {
  it('takes several files, and needs one', () => {
    expect(parseRenderOptions(['-f', 'a', '--filename=b', '-n', 'shop'])).to.deep.equal({
      kind: 'render',
      options: {
        paths: ['a', 'b'],
        namespace: 'shop',
        assumesReferences: false,
        showsSecrets: false,
        help: false,
      },
    });
    expect(() => parseRenderOptions([])).to.throw('render needs a file or folder: -f FOLDER');
    expect(() => parseRenderOptions(['-f', 'a', 'b'])).to.throw('render takes no arguments, but files by -f');
  });
});
