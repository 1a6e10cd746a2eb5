import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { kustomize, onlyOf } from '#spec/support/manifest-objects.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { seriesIn, seriesNames, servedSeries, unmetLabels } from '#spec/support/served-series.ts';

const FOLDER = 'manifests/charts/metrics-server/monitoring';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

describe(FOLDER, () => {
  let exposition: string;
  let rules: readonly Rule[];
  let groups: unknown;
  let panels: readonly Panel[];
  let folder: string;

  before(async () => {
    exposition = await servedSeries();
    const { spec } = parse(await readFile(`${FOLDER}/prometheus-rule.yaml`, 'utf8'));
    groups = spec.groups;
    rules = spec.groups.flatMap((group: { rules: readonly Rule[] }) => group.rules);
    panels = JSON.parse(await readFile(`${FOLDER}/dashboard.json`, 'utf8')).panels;
    folder = await mkdtemp(join(tmpdir(), 'monitoring-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  it('has alerts and panels only for series that the server exposes', () => {
    const existing = seriesNames(exposition);
    const expressions = [
      ...rules.map(({ alert, expr }) => [alert, expr] as const),
      ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
    ];
    expect(expressions.length).to.be.greaterThan(20);
    for (const [name, expression] of expressions) {
      const series = seriesIn(expression);
      expect(series, name).not.to.deep.equal([]);
      expect(
        series.filter((one) => !existing.has(one)),
        name,
      ).to.deep.equal([]);
      expect(unmetLabels(expression, exposition), name).to.deep.equal([]);
    }
  });

  it('would fail for an unknown series or label', () => {
    const rate =
      'sum by (node) (rate(metrics_server_kubelet_request_total{success="no"}[5m])) / nothing_total';
    expect(seriesIn(rate)).to.deep.equal(['metrics_server_kubelet_request_total', 'nothing_total']);
    expect(unmetLabels(rate, exposition)).to.deep.equal([
      'metrics_server_kubelet_request_total{success="no"}',
      'by (node)',
    ]);
  });

  it('describes the problem and the next step in every alert', () => {
    for (const { alert, annotations } of rules) {
      expect(annotations, alert).to.have.all.keys('summary', 'description');
    }
  });

  it("scrapes the server's Service, and installs the dashboard in Grafana", async () => {
    const objects = await kustomize('manifests/overlays/release-monitored');
    const service = onlyOf(objects, 'Service');
    const { selector, endpoints } = onlyOf(objects, 'ServiceMonitor').spec;
    expect(service.metadata.labels).to.include(selector.matchLabels);
    expect(service.spec.ports.map(({ name }: { name: string }) => name)).to.include(endpoints[0].port);
    const { data, metadata } = onlyOf(objects, 'ConfigMap');
    expect(metadata.labels).to.include({ grafana_dashboard: '1' });
    expect(JSON.parse(data['metrics-server.json'])).to.have.property('title', 'metrics-server');
  });

  it('is accepted by promtool, as are the exposed series', async function () {
    const promtool = await requireProgram(this, 'promtool');
    const [ruleFile, metricsFile] = [join(folder, 'rules.yaml'), join(folder, 'metrics.txt')];
    await writeFile(ruleFile, stringify({ groups }));
    await writeFile(metricsFile, exposition);
    const checked = await runToEnd(promtool, ['check', 'rules', ruleFile], 20_000);
    expect(checked.exitStatus, checked.stderr + checked.stdout).to.equal(0);
    expect(checked.stdout).to.include(`SUCCESS: ${rules.length} rules found`);
    const script = `"$1" check metrics < "$2"`;
    const metrics = await runToEnd('sh', ['-c', script, 'sh', promtool, metricsFile], 20_000);
    expect(metrics.exitStatus, metrics.stderr + metrics.stdout).to.equal(0);
  });
});
