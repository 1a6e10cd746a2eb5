import type { ClusterReader } from './cluster-reader.ts';

/** Each is a request, and all objects wait for the same rate. */
const MOST_REFERENCES = 100;

type Read<T> = (namespace: string, name: string, signal: AbortSignal) => Promise<T>;

/**
 * Reads for the triggers of one object: each Secret, ConfigMap and token once, and of all no more than a hundred, however
 * many triggers and containers refer to them.
 */
export function readerOfOne(reader: ClusterReader): ClusterReader {
  const known = new Map<string, Promise<unknown>>();
  const once =
    <T>(kind: string, read: Read<T>): Read<T> =>
    async (namespace, name, signal) => {
      const key = JSON.stringify([kind, namespace, name]);
      if (!known.has(key) && known.size === MOST_REFERENCES)
        throw new Error(
          `the triggers refer to more than ${MOST_REFERENCES} Secrets, ConfigMaps and service accounts`,
        );
      const reading = (known.get(key) as Promise<T> | undefined) ?? read(namespace, name, signal);
      known.set(key, reading);
      return await reading;
    };
  const secretData = once('Secret', reader.secretData);
  const configMapData = once('ConfigMap', reader.configMapData);
  return {
    ...reader,
    ...{ secretData, configMapData },
    serviceAccountToken: once('token', reader.serviceAccountToken),
    environmentOf: (namespace, signal) => ({
      secretData: (name) => secretData(namespace, name, signal),
      configMapData: (name) => configMapData(namespace, name, signal),
    }),
  };
}
