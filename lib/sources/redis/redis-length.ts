import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { RedisCommand } from './redis-servers.ts';

const LENGTH: Readonly<Record<string, string>> = { zset: 'ZCARD', set: 'SCARD', hash: 'HLEN', list: 'LLEN' };

/** Returns the number of elements of a list, set, sorted set or hash; 0 if it is missing. @throws for other types */
export async function readLength(send: RedisCommand, key: string): Promise<number> {
  const type = String(await send('TYPE', key));
  if (type === 'none') return 0;
  const command = getOwn(LENGTH, type);
  if (command === undefined) throw new Error('ERR unsupported key type');
  return toCount(await send(command, key));
}

interface StreamCount {
  readonly stream: string;
  readonly group: string | undefined;
  /** Pending entries, the lag of the group, or all entries. */
  readonly counted: 'pending' | 'lag' | 'length';
}

const LAG_VERSION = 7;

/** Counts entries of a stream. */
export async function readStreamCount(
  send: RedisCommand,
  { stream, group, counted }: StreamCount,
): Promise<number> {
  if (counted === 'length' || group === undefined) return toCount(await send('XLEN', stream));
  if (counted === 'pending') {
    const summary = await send('XPENDING', stream, group);
    return toCount(Array.isArray(summary) ? summary[0] : undefined);
  }
  const [, major = '0'] = /redis_version:(\d{1,9})\./.exec(String(await send('INFO', 'server'))) ?? [];
  if (Number(major) < LAG_VERSION) throw new Error('redis version 7+ required for lag');
  if (String(await send('TYPE', stream)) === 'none') return 0;
  const groups = await send('XINFO', 'GROUPS', stream);
  for (const one of Array.isArray(groups) ? groups : []) {
    const fields = toFields(one);
    if (String(fields.get('name')) !== group) continue;
    const lag = fields.get('lag');
    if (lag === null || lag === undefined) throw new Error(`the lag of group ${group} is unknown`);
    return toCount(lag);
  }
  return toCount(await send('XLEN', stream));
}

function toFields(value: unknown): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  const list = Array.isArray(value) ? value : [];
  for (let index = 0; index + 1 < list.length; index += 2) fields.set(String(list[index]), list[index + 1]);
  return fields;
}

function toCount(value: unknown): number {
  const count = typeof value === 'number' ? value : Number(value);
  if (value !== null && value !== '' && Number.isSafeInteger(count) && count >= 0) return count;
  throw new Error('the server returned no count');
}
