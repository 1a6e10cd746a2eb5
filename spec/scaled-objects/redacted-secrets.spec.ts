import { expect } from 'chai';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startEchoingSources } from '#spec/support/echoing-sources.ts';
import { collectMessages } from '#spec/support/trigger-messages.ts';

const SECRET = `Zq9"/w+k&~<>'7_Xv!pL$2`;
const BEHIND = `, is it? ${'y'.repeat(400)}`;
/** Just below lengths at which errors are, or were, truncated. */
const CUTS = [50, 64, 100, 200, 250, 300, 1000];
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'percent-encoded': encodeURIComponent,
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'in base64 behind a user': (text) => Buffer.from(`user:${text}`).toString('base64'),
  'escaped for JSON': (text) => JSON.stringify(text).slice(1, -1),
};

describe('prepareTriggers, of sources that repeat a secret', () => {
  it('reveals no part of it, however it is encoded, and wherever the text is truncated', async () => {
    let text = '';
    await using echoing = await startEchoingSources(SECRET, () => text);
    await using opened = openTriggerEnvironment({
      ...{ clock: systemClock, userAgent: 'spec', allowedHosts: ['127.0.0.0/8'], timeoutMs: 10_000 },
      listPods: async () => [],
      listEndpoints: async () => [],
      findAddresses: undefined,
    });
    const types = new TriggerTypes(allTriggers(opened));
    for (const [how, write] of Object.entries(FORMS)) {
      const written = write(SECRET);
      const begin = written.slice(how.includes('behind') ? 8 : 0).slice(0, 5);
      for (const cut of how === 'as it is' ? CUTS : [300]) {
        for (const [name, source] of Object.entries(echoing.sources)) {
          text = `${'x'.repeat(cut - 23)} ${written}${BEHIND}`;
          const reported = await collectMessages(source, { types, environment: { KEY: SECRET } });
          expect(reported, `${name}, ${how}, cut at ${cut}`)
            .not.to.contain(begin)
            .and.not.to.contain('it succeeded');
        }
      }
    }
  });

  it('still reports the other text of such sources', async () => {
    await using echoing = await startEchoingSources(SECRET, () => `no entry for ${SECRET} here`);
    await using opened = openTriggerEnvironment({
      ...{ clock: systemClock, userAgent: 'spec', allowedHosts: ['127.0.0.0/8'], timeoutMs: 10_000 },
      listPods: async () => [],
      listEndpoints: async () => [],
      findAddresses: undefined,
    });
    const types = new TriggerTypes(allTriggers(opened));
    const { sources } = echoing;
    const containing = [
      'redis',
      'amqp',
      'management plugin',
      'external',
      'postgresql',
      'mysql',
      'aws-sqs-queue',
      'influxdb',
    ];
    for (const name of containing) {
      const source = sources[name];
      if (!source) throw new Error(`there is no ${name}`);
      expect(await collectMessages(source, { types, environment: { KEY: SECRET } }), name).to.contain(
        'no entry for … here',
      );
    }
  });
});
