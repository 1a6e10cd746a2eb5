import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { needBinaries } from '../control-plane/need-binaries.ts';

const PAGE = 'docs/reference/permissions.md';

/** Overlays on the page, in the order of installation, each with the account of its program. */
const INSTALLED = [
  { overlay: 'release', account: 'metrics-server' },
  { overlay: 'autoscaler', account: 'autoscaler' },
  { overlay: 'autoscaler-hpa', account: 'autoscaler' },
  { overlay: 'autoscaler-scaled-objects', account: 'autoscaler' },
];

describe('docs/reference/permissions.md', function () {
  this.timeout(300_000);

  let controlPlane: ControlPlane;
  let kubectl: Kubectl;

  before(async () => {
    controlPlane = await ControlPlane.start({ ...(await needBinaries()), controllerManager: undefined });
    kubectl = new Kubectl(await findKubectl(), controlPlane.kubeconfig);
  });

  after(() => controlPlane?.[Symbol.asyncDispose]());

  for (const { overlay, account } of INSTALLED) {
    it(`lists the permissions of the account of overlays/${overlay}, as kubectl prints them`, async () => {
      await run('apply', '-k', controlPlane.overlay(overlay));
      const everyone = new Set(await listRules('without-bindings'));
      const own = (await listRules(account)).filter((rule) => !everyone.has(rule));
      await run('delete', '-k', controlPlane.overlay(overlay), '--wait=false');
      expect(own).to.deep.equal(await readDocumentedRules(overlay));
    });
  }

  async function listRules(account: string): Promise<readonly string[]> {
    const as = `--as=system:serviceaccount:kube-system:${account}`;
    return parseRules(await run('auth', 'can-i', '--list', '--namespace=kube-system', as));
  }

  async function run(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await kubectl.run(args, 60_000);
    if (exitStatus !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: ${stderr.trim()}${stdout}`);
    return stdout;
  }
});

/** Table rows without the header; single spaces between columns, verbs and rows sorted. */
function parseRules(output: string): readonly string[] {
  const [, ...rows] = output.trim().split('\n');
  return rows
    .map((row) => row.trim().replace(/ +/g, ' '))
    .map((row) =>
      row.replace(/\[([^\]]*)\]$/, (_, verbs: string) => `[${verbs.split(' ').sort().join(' ')}]`),
    )
    .sort();
}

/** Rows below the heading of an overlay on the page. */
async function readDocumentedRules(overlay: string): Promise<readonly string[]> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split(`\n### \`overlays/${overlay}\`\n`);
  const [, block = ''] = section.split('```');
  return block
    .replace(/^text\n/, '')
    .trim()
    .split('\n');
}
