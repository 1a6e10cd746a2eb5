import { expect } from 'chai';
import { KlogLogger, type LoggingFormat } from '#lib/telemetry/klog-logger.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

function setup(format: LoggingFormat, verbosity = 0) {
  const lines: string[] = [];
  const clock = new ManualClock(Date.UTC(2026, 10, 21, 8, 46, 53, 741));
  const logger = new KlogLogger({
    clock,
    format,
    verbosity,
    processId: 1432,
    write: (line) => lines.push(line),
  });
  return { lines, logger };
}

describe('KlogLogger', () => {
  it("writes klog's text with the file and line of the caller", () => {
    const { lines, logger } = setup('text');
    logger.info('Serving', { address: '127.0.0.1:443', port: 443, isTls: true, absent: undefined });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(
      /^I1121 08:46:53\.741000 {4}1432 klog-logger\.spec\.ts:\d+\] "Serving" address="127\.0\.0\.1:443" port=443 isTls=true\n$/,
    );
  });

  it('marks warnings and errors, and logs an error with its causes', () => {
    const { lines, logger } = setup('text');
    logger.warning('Odd');
    logger.error('Cannot list nodes', new Error('outer', { cause: new Error('inner') }), { node: 'a' });
    expect(lines[0]).to.match(/^W1121 .*\] "Odd"\n$/);
    expect(lines[1]).to.match(/^E1121 .*\] "Cannot list nodes" err="outer: inner" node="a"\n$/);
  });

  it('writes one event on one line', () => {
    const { lines, logger } = setup('text');
    logger.info('a "quoted"\nmessage', { text: 'two\nlines' });
    expect(lines[0]?.match(/\n/g)).to.have.length(1);
  });

  it('escapes control characters of foreign text', () => {
    const hostile = 'x\x1b[2J\x9b31m\x7f\u202e\u2028\r\nE1121 forged';
    const text = setup('text');
    text.logger.error('Cannot scrape', new Error(hostile), { node: hostile });
    expect(text.lines.join('')).to.match(/^[\x20-\x7e]*\n$/);
    const json = setup('json');
    json.logger.info('Odd', { what: hostile });
    expect(json.lines.join('')).to.match(/^[\x20-\x7e]*\n$/);
    expect(JSON.parse(json.lines.join(''))).to.include({ what: hostile });
  });

  it("writes the JSON of Kubernetes' components", () => {
    const { lines, logger } = setup('json');
    logger.info('Serving', { port: 443 });
    logger.error('Bad', new Error('worse'));
    const [first, second] = lines.map((line) => JSON.parse(line));
    expect(first).to.deep.include({
      ts: Date.UTC(2026, 10, 21, 8, 46, 53, 741),
      msg: 'Serving',
      v: 0,
      port: 443,
    });
    expect(first.caller).to.match(/^klog-logger\.spec\.ts:\d+$/);
    expect(second).to.deep.include({ msg: 'Bad', err: 'worse' });
  });

  it('drops lines above its verbosity', () => {
    const { lines, logger } = setup('text', 2);
    logger.info('detail', {}, 2);
    logger.info('more detail', {}, 3);
    expect(lines).to.have.length(1);
  });
});
