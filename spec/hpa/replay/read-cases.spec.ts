import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parseCases, readCases } from './read-cases.ts';
import { replayAll } from './replay-report.ts';

const LINES = gunzipSync(readFileSync('spec/fixtures/hpa/cases.jsonl.gz')).toString('utf8').split('\n');
const [first = '', second = ''] = LINES;

describe('readCases', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'replay-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const refusal = (content: string | Buffer): string => {
    const file = join(folder, 'cases.jsonl');
    writeFileSync(file, content);
    try {
      readCases(file);
      return 'nothing';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('names a truncated line', () => {
    expect(refusal(`${first}\n${second.slice(0, 500)}`)).to.match(
      /^line 2 is no JSON, so the file was cut or is another: /,
    );
    const packed = gzipSync(`${first}\n${second}\n`);
    expect(refusal(packed.subarray(0, packed.length - 20))).to.equal(
      'it cannot be unpacked: unexpected end of file',
    );
  });

  it('names a missing or invalid field, and the rule', () => {
    const { scale: _, ...without } = JSON.parse(first);
    expect(refusal(JSON.stringify(without))).to.equal(
      'line 1 is no recorded decision: scale: Invalid input: expected object, received undefined',
    );
    const many = { ...JSON.parse(first), pods: 7, config: {}, hpa: [] };
    expect(refusal(`\n${JSON.stringify(many)}`)).to.match(/^line 2 .*; and 3 more$/);
    expect(refusal('[1, 2]')).to.contain('line 1 is no recorded decision: it: Invalid input');
  });

  it('rejects binary, empty and missing files', () => {
    expect(refusal(Buffer.from([0x80, 0xff, 0x00]))).to.equal('it is no text in UTF-8');
    expect(refusal('\n \n')).to.equal('there is no case in it, one a line as JSON');
    expect(() => readCases(join(folder, 'none'))).to.throw(/^ENOENT/);
    expect(() => readCases(folder)).to.throw(/^EISDIR/);
    expect(refusal('\u001b[31m{')).to.not.contain('\u001b');
  });

  it('treats absent as null', () => {
    const lines = LINES.filter((line) => line.includes('"startedAgeSeconds":null'));
    const without = lines.map((line) =>
      JSON.stringify(JSON.parse(line, (_, value) => (value === null ? undefined : value))),
    );
    expect(without).to.have.lengthOf.above(20);
    expect(replayAll(parseCases(without.join('\n'))).differing).to.deep.equal([]);
  });
});
