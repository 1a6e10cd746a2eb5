import type { Block } from '../configuration/block.ts';

/** Fields of Prometheus' configuration that contain secrets, also those that Prometheus itself does not print. */
const SECRETS: ReadonlySet<string> = new Set([
  ...['password', 'credentials', 'bearer_token', 'client_secret', 'secret_key', 'token'],
  ...['proxy_connect_header', 'headers', 'access_key'],
]);

/** Replaces secrets by `<secret>`. */
export function maskSecrets(file: Block): Block {
  return maskFields(file) as Block;
}

function maskFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      SECRETS.has(name) ? maskValue(field) : maskFields(field),
    ]),
  );
}

function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== 'object' || value === null) return '<secret>';
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskValue(field)]));
}
