import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type ExplainHpaOptions, explainHpa, parseExplainHpaOptions } from '#lib/autoscaler/explain-hpa.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const PAGE = readFileSync('docs/tasks/tune-an-hpa.md', 'utf8');
const [, EXAMPLE = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? [];
const [, TABLE = ''] = /\$ autoscaler explain-hpa web\.yaml\n(.*?)```/s.exec(PAGE) ?? [];

describe('explainHpa', () => {
  it('prints the table of the documentation for its example', async () => {
    await using folder = await TemporaryDirectory.create();
    const argv = ['lib/main.ts', 'autoscaler', 'explain-hpa', await folder.write('web.yaml', EXAMPLE)];
    const { stdout } = await promisify(execFile)(process.execPath, argv);
    expect(stdout).to.equal(TABLE);
  });

  it('prints a chart, and explains one decision', async () => {
    expect(await explained(EXAMPLE, { output: 'svg' })).to.match(/^<svg .*<\/svg>\n$/s);
    const text = await explained(EXAMPLE, { atMs: 70_000 });
    expect(text).to.match(/^decided at 1m0s\n4 replicas, bounds 2 to 20: would scale to 8\n/);
    expect(await refused(EXAMPLE, { atMs: 3_600_000 })).to.equal(
      'Cannot explain decision at 1h0m0s: the scenario ends at 15m0s',
    );
  });

  it('names metrics with their selectors as kubectl writes them, and the cause of a failure once', async () => {
    const metric = (selector: string) => `type: External
        external: { metric: { name: queue${selector} }, target: { type: AverageValue, averageValue: 10 } }
`;
    const scenario = (selector: string) =>
      EXAMPLE.replace(/type: Resource\n.*\n/, metric(selector)).replace(/load:.*/s, 'load:\n  - at: 0s\n');
    const explainedFor = async (selector: string) =>
      (await explained(scenario(selector), { atMs: 0 })).split('\n').slice(2);
    const api = 'unable to fetch metrics from external metrics API: the scenario has no value of queue';
    expect(await explainedFor('')).to.deep.equal([
      `external metric queue: failed: unable to get external metric default/queue: ${api}`,
      '',
    ]);
    expect(await explainedFor(', selector: { matchLabels: { app: shop } }')).to.deep.equal([
      `external metric queue{app=shop}: failed: unable to get external metric default/queue/{app=shop}: ${api}`,
      '',
    ]);
  });

  it('reads the load from a separate file', async () => {
    await using folder = await TemporaryDirectory.create();
    const loadFile = await folder.write('web.csv', 'at,cpu\n0s,400m\n');
    expect((await explained(EXAMPLE, { loadFile })).split('\n')[1]).to.match(/^0s +cpu 400m +4\/4 +8 +4 → 8/);
    await folder.write('web.csv', 'at,cpu\n0s,much\n');
    expect(await refused(EXAMPLE, { loadFile })).to.include(`load of ${loadFile}: line 2, cpu: "much"`);
  });

  it('names a missing file, a directory, and a file that is too long', async () => {
    expect(await refused('#'.repeat(5_000_000))).to.match(
      /^Cannot read .*web\.yaml: longer than 4194304 bytes$/,
    );
    const complaint = await explainHpa({ file: '/no/such', ...OPTIONS }).catch(describeError);
    expect(complaint).to.equal('Cannot read /no/such: no such file or directory');
    const folder = await explainHpa({ file: 'docs', ...OPTIONS }).catch(describeError);
    expect(folder).to.equal('Cannot read docs: is a directory');
  });

  it('escapes control characters of the scenario', async () => {
    const text = EXAMPLE.replaceAll('cpu', 'memory').replace(
      'resource: { name: memory',
      'resource: { name: "\\e[2J"',
    );
    const load = text.replaceAll(', memory: ', ', "\\e[2J": ');
    expect(await explained(load))
      .to.include('\\u001b[2J')
      .and.not.to.include('\u001b');
  });
});

const OPTIONS: Omit<ExplainHpaOptions, 'file'> = { loadFile: '', output: 'table', atMs: undefined };

async function explained(text: string, options: Partial<ExplainHpaOptions> = {}): Promise<string> {
  await using folder = await TemporaryDirectory.create();
  const file = await folder.write('web.yaml', text);
  return await explainHpa({ ...OPTIONS, file, ...options });
}

async function refused(text: string, options: Partial<ExplainHpaOptions> = {}): Promise<string> {
  return await explained(text, options).catch(describeError); // as the command does
}

describe('parseExplainHpaOptions', () => {
  it('parses a file, with a table by default', () => {
    expect(parseExplainHpaOptions(['web.yaml'])).to.deep.equal({
      kind: 'explain',
      options: { file: 'web.yaml', loadFile: '', output: 'table', atMs: undefined },
    });
  });

  it('parses a load, a chart or a time', () => {
    const parsed = (...argv: string[]) => {
      const commandLine = parseExplainHpaOptions(argv);
      return commandLine.kind === 'explain' ? commandLine.options : undefined;
    };
    expect(parsed('-o', 'svg', 'a', '--load=b.csv')).to.include({ output: 'svg', loadFile: 'b.csv' });
    expect(parsed('a', '--at=0s')).to.include({ atMs: 0 });
    expect(parsed('a', '--at', '5m')).to.include({ atMs: 300_000 });
  });

  it('shows no default for --at in its help', () => {
    const commandLine = parseExplainHpaOptions(['--help']);
    const [message] = commandLine.kind === 'help' ? (commandLine.text.match(/--at duration[^-]*/) ?? []) : [];
    expect(message).to.match(/of the scenario\.\s*$/);
  });

  it('rejects invalid command lines', () => {
    expect(() => parseExplainHpaOptions([])).to.throw('one scenario file');
    expect(() => parseExplainHpaOptions(['a', 'b'])).to.throw('got 2');
    expect(() => parseExplainHpaOptions(['a', '--at=-1s'])).to.throw(/--at.* must not be negative/);
    expect(() => parseExplainHpaOptions(['a', '--at=1s', '--output=svg'])).to.throw('mutually exclusive');
    expect(() => parseExplainHpaOptions(['a', '--output=png'])).to.throw('table, svg');
  });
});
