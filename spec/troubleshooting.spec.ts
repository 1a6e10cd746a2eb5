import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { REASONS } from '#lib/resource-metrics/debug/debug-response.ts';
import { DIAGNOSES } from '#lib/resource-metrics/doctor/diagnoses.ts';
import { autoscalerDiagnoses } from '#spec/support/autoscaler-diagnoses.ts';

const ALERTS = 'manifests/charts/metrics-server/monitoring/prometheus-rule.yaml';

describe('docs/reference/autoscaler-troubleshooting.md', () => {
  const page = readFileSync('docs/reference/autoscaler-troubleshooting.md', 'utf8');

  it('has a section with the remedy of each diagnosis', () => {
    const inOneLine = page.replaceAll(/\s+/g, ' ');
    for (const { title, remedy } of Object.values(autoscalerDiagnoses())) {
      expect(inOneLine).to.include(`### ${title} ${remedy} `);
    }
  });
});

describe('docs/reference/troubleshooting.md', () => {
  const page = readFileSync('docs/reference/troubleshooting.md', 'utf8');
  const inOneLine = page.replaceAll(/\s+/g, ' ');
  const headings = [...page.matchAll(/^#{2,} (.+)$/gm)].map(([, heading = '']) => heading);

  it('has a section with the remedy of each diagnosis', () => {
    for (const { title, remedy } of Object.values(DIAGNOSES)) {
      expect(headings).to.include(title);
      expect(inOneLine).to.include(`### ${title} ${remedy} `);
    }
  });

  it('explains each reason of /debug/ with its remedy', () => {
    for (const [code, { meaning, remedy }] of Object.entries(REASONS)) {
      expect(page).to.include(`| \`${code}\` | ${meaning} | ${remedy} |`);
    }
  });

  it('names possible causes of each alert', () => {
    const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert);
    expect(alerts.length).to.be.greaterThan(5);
    const explained = [...page.matchAll(/^\| alert `(\w+)` \| ./gm)].map(([, alert]) => alert);
    expect(explained).to.have.members(alerts);
  });

  it('links symptoms to existing sections', () => {
    const anchors = new Set(headings.map(anchorOf));
    const linked = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(linked.length).to.be.greaterThan(10);
    expect(linked.filter((anchor) => !anchors.has(anchor))).to.deep.equal([]);
  });
});

/** The anchor that GitHub creates for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
