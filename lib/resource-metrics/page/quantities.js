const FACTORS = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Parses a Kubernetes quantity to cores or bytes; `undefined` for other texts. */
export function parseQuantity(text) {
  const [, amount, suffix] = /^(\d+)([a-zA-Z]*)$/.exec(text ?? '') ?? [];
  return amount === undefined ? undefined : Number(amount) * (FACTORS[suffix] ?? 1);
}

/** Formats cores: `63m`, `1.27`. */
export function formatCores(cores) {
  if (cores === undefined) return '–';
  return cores < 1 ? `${Math.round(cores * 1000)}m` : cores.toFixed(2);
}

/** Formats bytes: `24 MiB`, `1.6 GiB`. */
export function formatBytes(bytes) {
  if (bytes === undefined) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Formats a share of a capacity: `7%`; nothing where one is not available. */
export function formatShare(amount, capacity) {
  return amount === undefined || !capacity ? '' : `${Math.round((amount / capacity) * 100)}%`;
}

/** Formats an age: `4 s`, `12 min`, `3 h`. */
export function formatAge(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
