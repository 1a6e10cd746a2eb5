import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { autoscalerSeries } from '#spec/support/autoscaler-series.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { kustomize, onlyOf } from '#spec/support/manifest-objects.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { seriesIn, seriesNames, unmetLabels } from '#spec/support/served-series.ts';

const FOLDER = 'manifests/charts/autoscaler/monitoring';

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
  const { spec } = parse(readFileSync(`${FOLDER}/prometheus-rule.yaml`, 'utf8'));
  const rules: readonly Rule[] = spec.groups.flatMap((group: { rules: readonly Rule[] }) => group.rules);
  const panels: readonly Panel[] = JSON.parse(readFileSync(`${FOLDER}/dashboard.json`, 'utf8')).panels;

  it('has alerts and panels only for series that the autoscaler exposes', async () => {
    const exposition = await autoscalerSeries();
    const existing = seriesNames(exposition);
    const expressions = [
      ...rules.map(({ alert, expr }) => [alert, expr] as const),
      ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
    ];
    expect(expressions.length).to.be.greaterThan(15);
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

  it('describes the problem and the next step in every alert', () => {
    for (const { alert, annotations } of rules)
      expect(annotations, alert).to.have.all.keys('summary', 'description');
  });

  it("scrapes the autoscaler's Service, and installs the dashboard in Grafana", async () => {
    const objects = await kustomize('manifests/overlays/autoscaler-monitored');
    const service = onlyOf(objects, 'Service');
    const { selector, endpoints } = onlyOf(objects, 'ServiceMonitor').spec;
    expect(service.metadata.labels).to.include(selector.matchLabels);
    expect(service.spec.ports.map(({ name }: { name: string }) => name)).to.include(endpoints[0].port);
    const { data, metadata } = onlyOf(objects, 'ConfigMap');
    expect(metadata.labels).to.include({ grafana_dashboard: '1' });
    expect(JSON.parse(data['autoscaler.json'])).to.have.property('title', 'autoscaler');
  });

  it('is accepted by promtool', async function () {
    const promtool = await requireProgram(this, 'promtool');
    const script = `sed -n '/^  groups:/,$p' "$2" | sed 's/^  //' | "$1" check rules /dev/stdin`;
    const path = `${FOLDER}/prometheus-rule.yaml`;
    const { stdout, stderr, exitStatus } = await runToEnd('sh', ['-c', script, 'sh', promtool, path], 20_000);
    expect(exitStatus, stderr + stdout).to.equal(0);
    expect(stdout).to.include(`SUCCESS: ${rules.length} rules found`);
  });
});
