import { expect } from 'chai';
import { OutageLog } from '#lib/resource-metrics/scrape/outage-log.ts';
import { ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

function setup() {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const log = new OutageLog(logger, clock);
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

describe('OutageLog', () => {
  it('names node, address and cause once while the same failure goes on', () => {
    const { record, messages } = setup();
    for (let cycle = 0; cycle < 5; cycle++) record('connection refused');
    expect(messages()).to.deep.equal([{ message: REFUSED, node: 'a', address: '10.0.0.7:10250' }]);
  });

  it('takes failures that differ in particulars for the same', () => {
    const { record, messages } = setup();
    record('the answer is not valid JSON: unexpected end at position 4711');
    record('the answer is not valid JSON: unexpected end at position 4712');
    expect(messages()).to.have.length(1);
  });

  it('reports a change of cause', () => {
    const { record, messages } = setup();
    record('connection refused');
    record('HTTP status 500');
    expect(messages()).to.have.length(2);
  });

  it('reminds hourly', async () => {
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

  it('reports when the node is back, and how long it was not', async () => {
    const { clock, record, messages } = setup();
    record();
    record('connection refused');
    await clock.advance(90_000);
    record();
    record();
    expect(messages().at(-1)).to.deep.equal({
      message: 'Node is scraped again',
      node: 'a',
      failedFor: '1m30s',
    });
    expect(messages()).to.have.length(2);
  });

  it('names what could not be read of an answer, once while that goes on', () => {
    const { record, messages } = setup();
    for (let cycle = 0; cycle < 3; cycle++) record(undefined, ['a bad line', 'another']);
    record();
    record(undefined, ['a bad line']);
    const message = "Left out what cannot be read of a kubelet's answer";
    expect(messages()).to.deep.equal([
      { message, node: 'a', what: 'a bad line', others: 1 },
      { message, node: 'a', what: 'a bad line', others: 0 },
    ]);
  });

  it('forgets nodes that are gone', () => {
    const { log, record, messages } = setup();
    record('connection refused');
    log.retain(() => false);
    record();
    expect(messages()).to.have.length(1);
  });
});
