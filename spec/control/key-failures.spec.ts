import { expect } from 'chai';
import { KeyFailures } from '#lib/control/key-failures.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('KeyFailures', () => {
  it('leaves other namespaces as many lines as one has that fails with thousands of keys', () => {
    const logger = new RecordingLogger();
    const failures = new KeyFailures({ controller: 'spec', logger });
    const logged = (namespace: string) =>
      logger.lines.filter(({ fields }) => `${fields.key}`.startsWith(`${namespace}/`)).length;
    for (let index = 0; index < 3000; index++) failures.fail(`many/${index}`, new Error('refused'));
    expect(logged('many')).to.equal(500);
    for (let index = 0; index < 10; index++) failures.fail(`other/${index}`, new Error('refused'));
    expect(logged('other')).to.equal(10);
    for (let index = 0; index < 3000; index++) failures.succeed(`many/${index}`);
    for (let index = 0; index < 100; index++) failures.fail(`third/${index}`, new Error('refused'));
    expect(logged('third')).to.equal(100);
    failures.keepOnly(new Set());
    for (let index = 0; index < 3000; index++) failures.fail(`again/${index}`, new Error('refused'));
    expect(logged('again')).to.equal(500);
  });
});
