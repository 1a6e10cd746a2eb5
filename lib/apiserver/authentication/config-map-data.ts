import * as z from 'zod/mini';
import { type CaBundle, parseCaBundle } from '#lib/apiserver/certificates/ca-bundle.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { FrontProxyConfig } from './authentication-config.ts';

/** The texts of the config map by key; the same ones for as long as none of them changes. */
export type ConfigMapData = Readonly<Record<string, string>>;

/** Keeps of a ConfigMap object what it says. */
export function dataOf(configMap: unknown): ConfigMapData {
  const data = propertyOf(configMap, 'data');
  if (typeof data !== 'object' || data === null) return {};
  return Object.fromEntries(Object.entries(data).filter(([, text]) => typeof text === 'string'));
}

/**
 * Reads who signs users' certificates.
 *
 * @throws when it does not say, or nothing that can be read
 */
export function clientAuthoritiesIn(data: ConfigMapData): CaBundle {
  return parseCaBundle(textAt(data, 'client-ca-file'));
}

/**
 * Reads who the front proxy is and how it speaks.
 *
 * @returns `undefined` when the cluster has none
 * @throws when what it says cannot be read
 */
export function frontProxyIn(data: ConfigMapData): FrontProxyConfig | undefined {
  const username = namesAt(data, 'requestheader-username-headers');
  const authorities = textAt(data, 'requestheader-client-ca-file');
  if (username.length === 0 && authorities === '') return undefined;
  return {
    authorities: parseCaBundle(authorities),
    allowedNames: namesAt(data, 'requestheader-allowed-names'),
    headers: {
      username,
      uid: namesAt(data, 'requestheader-uid-headers'),
      group: namesAt(data, 'requestheader-group-headers'),
      extraPrefix: namesAt(data, 'requestheader-extra-headers-prefix'),
    },
  };
}

const NAMES = z.array(z.string());

function namesAt(data: ConfigMapData, key: string): readonly string[] {
  const text = textAt(data, key);
  if (text === '') return [];
  try {
    return NAMES.parse(JSON.parse(text)).map((name) => name.trim());
  } catch (cause) {
    throw new Error(`Cannot read ${key}: it is no JSON list of texts`, { cause });
  }
}

function textAt(data: ConfigMapData, key: string): string {
  return getOwn(data, key) ?? '';
}
