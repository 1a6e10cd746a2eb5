import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { prepareTriggers } from '#lib/scaled-objects/preparation/prepare-triggers.ts';
import type { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import type { EchoingSource } from './echoing-sources.ts';

/** All texts of a trigger after planning and a query: names, notes and errors. */
export async function collectMessages(
  { type, metadata, authentication = {} }: EchoingSource,
  {
    types,
    environment = {},
  }: { readonly types: TriggerTypes; readonly environment?: Readonly<Record<string, string>> },
): Promise<string> {
  const [planned] = await prepareTriggers([{ type, metadata, authenticationRef: { name: 'login' } }], {
    ...{ objectKind: 'ScaledObject', objectName: 'web', namespace: 'default', hasFormula: false, types },
    environment: async () => environment,
    signal: new AbortController().signal,
    share: new EventLoopShare(new ManualClock()),
    reader: {
      clusterNamespace: 'default',
      authentication: () => ({
        metadata: { name: 'login' },
        spec: {
          secretTargetRef: Object.keys(authentication).map((key) => ({ parameter: key, name: 's', key })),
        },
      }),
      secretData: async () => authentication,
      configMapData: async () => undefined,
      serviceAccountToken: async () => '',
      file: async () => ({}),
    },
  });
  const texts: string[] = planned?.error ? [describeError(planned.error)] : [];
  for (const { query, metricName } of planned?.metrics ?? []) {
    texts.push(metricName, query.description, query.key);
    const note = (text: string) => void texts.push(text);
    const failure = await query.run(new AbortController().signal, note).then(
      () => 'it succeeded',
      (error) => describeError(error),
    );
    texts.push(failure);
  }
  return texts.join('\n');
}
