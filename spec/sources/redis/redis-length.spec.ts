import { expect } from 'chai';
import type { RespValue } from '#lib/sources/redis/redis-client.ts';
import { readLength, readStreamCount } from '#lib/sources/redis/redis-length.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('readLength', () => {
  for (const [type, command] of [
    ['list', 'LLEN'],
    ['set', 'SCARD'],
    ['zset', 'ZCARD'],
    ['hash', 'HLEN'],
  ] as const)
    it(`counts a ${type} by ${command}`, async () => {
      const { send, sent } = server({ 'TYPE k': type, [`${command} k`]: 7 });
      expect(await readLength(send, 'k')).to.equal(7);
      expect(sent).to.deep.equal(['TYPE k', `${command} k`]);
    });

  it('treats an absent key as empty, and refuses any other type', async () => {
    expect(await readLength(server({ 'TYPE k': 'none' }).send, 'k')).to.equal(0);
    for (const type of ['stream', 'string', 'toString'])
      expect(await errorOf(readLength(server({ 'TYPE k': type }).send, 'k'))).to.equal(
        'ERR unsupported key type',
      );
  });

  for (const [value, count] of [
    ['12', 12],
    [0, 0],
    ['0', 0],
  ] as const)
    it(`parses ${JSON.stringify(value)} as a count`, async () => {
      expect(await readLength(server({ 'TYPE k': 'list', 'LLEN k': value }).send, 'k')).to.equal(count);
    });

  for (const value of [null, '', -1, 1.5, 'many', [1, 2]] as const)
    it(`rejects ${JSON.stringify(value)} as a count`, async () => {
      const { send } = server({ 'TYPE k': 'list', 'LLEN k': value as RespValue });
      expect(await errorOf(readLength(send, 'k'))).to.equal('the server returned no count');
    });
});

describe('readStreamCount', () => {
  const INFO = '# Server\r\nredis_version:7.2.4\r\n';
  const group = (name: string, lag: RespValue): RespValue => ['name', name, 'consumers', 1, 'lag', lag];
  const lagOf = (groups: RespValue, more: Readonly<Record<string, RespValue>> = {}) => {
    const { send } = server({
      ...{ 'INFO server': INFO, 'TYPE s': 'stream', 'XINFO GROUPS s': groups, 'XLEN s': 9 },
      ...more,
    });
    return readStreamCount(send, { stream: 's', group: 'g', counted: 'lag' });
  };

  it('counts all entries, where configured or without a group', async () => {
    for (const [of, counted] of [
      ['g', 'length'],
      [undefined, 'lag'],
      [undefined, 'pending'],
    ] as const) {
      const { send, sent } = server({ 'XLEN s': 9 });
      expect(await readStreamCount(send, { stream: 's', group: of, counted })).to.equal(9);
      expect(sent).to.deep.equal(['XLEN s']);
    }
  });

  it('counts the pending entries of a group', async () => {
    const { send } = server({ 'XPENDING s g': [4, '1-0', '2-0', null] });
    expect(await readStreamCount(send, { stream: 's', group: 'g', counted: 'pending' })).to.equal(4);
    const none = server({ 'XPENDING s g': null });
    expect(
      await errorOf(readStreamCount(none.send, { stream: 's', group: 'g', counted: 'pending' })),
    ).to.equal('the server returned no count');
  });

  it('returns the lag of the configured group', async () => {
    expect(await lagOf([group('f', 1), group('g', 3), group('h', 5)])).to.equal(3);
  });

  it('returns all entries as the lag of a missing group, and none for a missing stream', async () => {
    expect(await lagOf([group('f', 1)])).to.equal(9);
    expect(await lagOf([], { 'TYPE s': 'none' })).to.equal(0);
  });

  it('throws if the server does not know the lag', async () => {
    expect(await errorOf(lagOf([group('g', null)]))).to.equal('the lag of group g is unknown');
    expect(await errorOf(lagOf([['name', 'g']]))).to.equal('the lag of group g is unknown');
  });

  it('requires a server version that reports the lag', async () => {
    for (const [version, refusal] of [
      ['6.2.14', 'redis version 7+ required for lag'],
      ['none', 'redis version 7+ required for lag'],
      ['10.0.0', undefined],
    ] as const) {
      const info = { 'INFO server': `redis_version:${version}\r\n` };
      const failure = await lagOf([group('g', 3)], info).then(
        () => undefined,
        (error: Error) => error.message,
      );
      expect(failure, version).to.equal(refusal);
    }
  });
});

/** Responds only to these commands. */
function server(responses: Readonly<Record<string, RespValue>>) {
  const sent: string[] = [];
  return {
    sent,
    async send(...words: readonly string[]): Promise<RespValue> {
      const command = words.join(' ');
      sent.push(command);
      const response = responses[command];
      if (response === undefined) throw new Error(`nobody expects ${command}`);
      return response;
    },
  };
}
