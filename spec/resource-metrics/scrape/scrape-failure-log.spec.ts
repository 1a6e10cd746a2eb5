import { expect } from 'chai';
import { ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ScrapeFailureLog } from '#lib/resource-metrics/scrape/scrape-failure-log.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

function setup() {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const log = new ScrapeFailureLog(logger, clock);
  const record = (reason?: string, ignored: readonly string[] = []) => {
    const error =
      reason === undefined
        ? undefined
        : new ScrapeError('a', new Error(reason), { address: '10.0.0.7:10250' });
    log.record({ nodeName: 'a', startedAtMs: 0, durationMs: 0, error, ignored });
  };
  return {
    clock,
    log,
    record,
    messages: () => logger.lines.map(({ message, fields }) => ({ message, ...fields })),
  };
}

const REFUSED = 'Cannot scrape node "a" at 10.0.0.7:10250: connection refused';

describe('ScrapeFailureLog', () => {
  it('logs node, address and cause once while a failure continues', () => {
    const { record, messages } = setup();
    for (let cycle = 0; cycle < 5; cycle++) record('connection refused');
    expect(messages()).to.deep.equal([{ message: REFUSED, node: 'a', address: '10.0.0.7:10250' }]);
  });

  it('treats failures that differ in details as the same', () => {
    const { record, messages } = setup();
    record('the response is not valid JSON: unexpected end at position 4711');
    record('the response is not valid JSON: unexpected end at position 4712');
    expect(messages()).to.have.length(1);
  });

  it('logs a change of cause', () => {
    const { record, messages } = setup();
    record('connection refused');
    record('HTTP status 500');
    expect(messages()).to.have.length(2);
  });

  it('repeats the line hourly', async () => {
    const { clock, record, messages } = setup();
    for (let minute = 0; minute <= 120; minute++) {
      record('connection refused');
      await clock.advance(60_000);
    }
    expect(messages()).to.deep.equal([
      { message: REFUSED, node: 'a', address: '10.0.0.7:10250' },
      { message: REFUSED, node: 'a', address: '10.0.0.7:10250', failingFor: '1h0m0s' },
      { message: REFUSED, node: 'a', address: '10.0.0.7:10250', failingFor: '2h0m0s' },
    ]);
  });

  it('logs the recovery and the duration of the failure', async () => {
    const { clock, record, messages } = setup();
    record();
    record('connection refused');
    await clock.advance(90_000);
    record();
    record();
    expect(messages().at(-1)).to.deep.equal({
      message: 'Scrapes of node succeed again',
      node: 'a',
      failedFor: '1m30s',
    });
    expect(messages()).to.have.length(2);
  });

  it('logs unreadable parts once while they continue', () => {
    const { record, messages } = setup();
    for (let cycle = 0; cycle < 3; cycle++) record(undefined, ['a bad line', 'another']);
    record();
    record(undefined, ['a bad line']);
    const message = 'Ignoring unreadable parts of kubelet response';
    expect(messages()).to.deep.equal([
      { message, node: 'a', part: 'a bad line', others: 1 },
      { message, node: 'a', part: 'a bad line', others: 0 },
    ]);
  });

  for (const [what, outcomes] of [
    ['fails in two ways by turns', ['connection refused', 'HTTP status 500']],
    ['fails every other time', ['connection refused', undefined]],
    ['fails in two ways, and not, by turns', ['connection refused', undefined, 'HTTP status 500']],
  ] as const) {
    it(`limits the lines per hour of a node that ${what}, and counts the rest`, async () => {
      const { clock, record, messages } = setup();
      const cycles = 4 * 240; // four hours
      for (let cycle = 0; cycle < cycles; cycle++) {
        record(outcomes[cycle % outcomes.length]);
        await clock.advance(15_000);
      }
      expect(messages()).to.have.length.within(4, 24);
      const counts = messages().map((line) =>
        'changesNotLogged' in line ? Number(line.changesNotLogged) + 1 : 1,
      );
      const sum = counts.reduce((one, other) => one + other, 0);
      expect(sum).to.be.within(cycles - 240, cycles); // all changes but those since the last line
    });
  }

  it('limits the lines per hour of a node with changing unreadable parts', async () => {
    const { clock, record, messages } = setup();
    for (let cycle = 0; cycle < 240; cycle++) {
      record(undefined, cycle % 2 === 0 ? ['a bad line'] : []);
      await clock.advance(15_000);
    }
    expect(messages()).to.have.length(6);
    await clock.advance(3_600_000);
    record();
    record(undefined, ['a bad line']);
    expect(messages().at(-1)).to.include({ changesNotLogged: 114 });
  });

  it('logs the final state within the hour', async () => {
    const { clock, record, messages } = setup();
    for (let cycle = 0; cycle < 21; cycle++) {
      record(cycle % 2 === 0 ? 'connection refused' : 'HTTP status 500');
      await clock.advance(15_000);
    }
    record();
    expect(messages().at(-1)).not.to.have.property('failedFor');
    for (let cycle = 0; cycle < 240; cycle++) {
      await clock.advance(15_000);
      record();
    }
    expect(messages().at(-1)).to.deep.equal({
      message: 'Scrapes of node succeed again',
      node: 'a',
      failedFor: '5m15s',
      changesNotLogged: 16,
    });
  });

  it('removes nodes that are gone', () => {
    const { log, record, messages } = setup();
    record('connection refused');
    log.retain((nodeName) => nodeName === 'a');
    record('connection refused');
    expect(messages()).to.have.length(1);
    log.retain(() => false);
    record();
    expect(messages()).to.have.length(1);
  });
});
