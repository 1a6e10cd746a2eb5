import { z } from 'zod';
import { askPlace, placeKey, type RedisPlace } from '#lib/sources/redis/redis-deployment.ts';
import { redisLength, redisStreamCount } from '#lib/sources/redis/redis-length.ts';
import type { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import { REDIS_CONNECTION, REDIS_FORMS, redisPlaceOf } from '../../parameters/redis-connection.ts';
import { integer, METADATA, parameter, text } from '../parameters/parameter.ts';
import { parametersOf } from '../parameters/read-parameters.ts';
import { above, oneMetric, type Trigger } from '../trigger.ts';

const listParameters = z.object({
  listName: parameter(text, { from: METADATA, description: 'The key of a list, set, sorted set or hash.' }),
  listLength: parameter(integer.default(5), {
    from: METADATA,
    description: 'How many elements one replica is to have.',
    default: '5',
  }),
  activationListLength: parameter(integer.default(0), {
    from: METADATA,
    description: 'Above this the trigger is active.',
    default: '0',
  }),
  ...REDIS_CONNECTION,
});

/** The length of a list, set, sorted set or hash of Redis. */
export function redisTrigger({ redis }: { readonly redis: RedisServers }): Trigger {
  return {
    types: ['redis', 'redis-cluster', 'redis-sentinel'],
    description: 'The length of a list, set, sorted set or hash of Redis.',
    parameters: listParameters,
    plan(request) {
      const given = parametersOf(listParameters, request);
      const place = redisPlaceOf(given, formOf(request.type));
      const { listName } = given;
      return oneMetric({
        name: `redis-${listName}`,
        query: {
          key: JSON.stringify(['redis', placeKey(place), listName]),
          description: `length of ${listName.slice(0, 200)} of Redis at ${shownPlace(place)}`,
          ask: async (signal) => [
            {
              value: await askPlace(redis, { place, work: (send) => redisLength(send, listName) }, signal),
              labels: {},
            },
          ],
        },
        target: given.listLength,
        judge: above(given.activationListLength),
      });
    },
  };
}

const streamParameters = z.object({
  stream: parameter(text, { from: METADATA, description: 'The key of the stream.' }),
  consumerGroup: parameter(text.optional(), {
    from: METADATA,
    description: 'The group of consumers whose entries count.',
  }),
  pendingEntriesCount: parameter(integer.default(5), {
    from: METADATA,
    description:
      'How many entries that were delivered to the group, but not acknowledged, one replica is to have.',
    default: '5',
  }),
  streamLength: parameter(integer.default(5), {
    from: METADATA,
    description: 'Without a group, how many entries one replica is to have.',
    default: '5',
  }),
  lagCount: parameter(integer.optional(), {
    from: METADATA,
    description:
      'How many entries that were not delivered to the group yet one replica is to have; from Redis 7 on.',
  }),
  activationLagCount: parameter(integer.default(0), {
    from: METADATA,
    description: 'Above this the trigger is active, whatever counts.',
    default: '0',
  }),
  ...REDIS_CONNECTION,
});

/** Entries of a stream of Redis. */
export function redisStreamsTrigger({ redis }: { readonly redis: RedisServers }): Trigger {
  return {
    types: ['redis-streams', 'redis-cluster-streams', 'redis-sentinel-streams'],
    description: 'Entries of a stream of Redis: all, those that are pending, or the lag of a group.',
    parameters: streamParameters,
    plan(request) {
      const given = parametersOf(streamParameters, request);
      const place = redisPlaceOf(given, formOf(request.type));
      const { stream, consumerGroup: group, lagCount } = given;
      const counted = group === undefined ? 'length' : lagCount === undefined ? 'pending' : 'lag';
      const targets = { length: given.streamLength, pending: given.pendingEntriesCount, lag: lagCount ?? 0 };
      return oneMetric({
        name: `redis-streams-${stream}`,
        query: {
          key: JSON.stringify(['redis-streams', placeKey(place), stream, group, counted]),
          description: `${counted} of stream ${stream.slice(0, 200)} of Redis at ${shownPlace(place)}`,
          async ask(signal) {
            const count = { stream, group, counted } as const;
            return [
              {
                value: await askPlace(
                  redis,
                  { place, work: (send) => redisStreamCount(send, count) },
                  signal,
                ),
                labels: {},
              },
            ];
          },
        },
        target: targets[counted],
        judge: above(given.activationLagCount),
      });
    },
  };
}

/** Of a type like `redis-sentinel-streams`. */
function formOf(type: string): (typeof REDIS_FORMS)[number] {
  return REDIS_FORMS.find((form) => type.startsWith(`redis-${form}`)) ?? 'server';
}

function shownPlace({ addresses }: RedisPlace): string {
  return addresses
    .slice(0, 3)
    .map(({ host, port }) => `${host}:${port}`)
    .join(', ');
}
