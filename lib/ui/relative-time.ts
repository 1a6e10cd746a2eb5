import { formatDuration } from '#lib/time/duration.ts';
import { type Html, html } from './html.ts';

/** How long ago something was: `4m ago`, with the time itself for who points at it. */
export function ago(atMs: number, nowMs: number): Html {
  return moment(atMs, `${shortDuration(Math.max(0, nowMs - atMs))} ago`);
}

/** For how long something has been so: `for 4m`. */
export function lasting(sinceMs: number, nowMs: number): Html {
  return moment(sinceMs, `for ${shortDuration(Math.max(0, nowMs - sinceMs))}`);
}

/** In how long something will be. */
export function ahead(atMs: number, nowMs: number): Html {
  return moment(atMs, atMs <= nowMs ? 'now' : `in ${shortDuration(atMs - nowMs)}`);
}

/** A duration as people read it: whole seconds, and no seconds where there are hours. */
export function shortDuration(durationMs: number): string {
  const days = Math.floor(durationMs / 86_400_000);
  if (days >= 2) return `${days}d`;
  const unitMs = durationMs >= 3_600_000 ? 60_000 : 1000;
  const text = formatDuration(Math.round(durationMs / unitMs) * unitMs);
  return text.replace(/([hm])0s$/, '$1').replace(/h0m$/, 'h');
}

function moment(atMs: number, text: string): Html {
  const date = new Date(atMs);
  if (Number.isNaN(date.getTime())) return html`–`; // nobody can read when that was
  const time = `${date.toISOString().slice(0, 19)}Z`;
  return html`<time datetime="${time}" title="${time}">${text}</time>`;
}
