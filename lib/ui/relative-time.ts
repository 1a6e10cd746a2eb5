import { formatDuration } from '#lib/time/duration.ts';
import { type Html, html } from './html.ts';

/** Renders an elapsed time, `4m ago`, with the timestamp as tooltip. */
export function ago(atMs: number, nowMs: number): Html {
  return moment(atMs, `${shortDuration(Math.max(0, nowMs - atMs))} ago`);
}

/** Renders a duration up to now: `for 4m`. */
export function lasting(sinceMs: number, nowMs: number): Html {
  return moment(sinceMs, `for ${shortDuration(Math.max(0, nowMs - sinceMs))}`);
}

/** Renders the time until an event: `in 4m`. */
export function ahead(atMs: number, nowMs: number): Html {
  return moment(atMs, atMs <= nowMs ? 'now' : `in ${shortDuration(atMs - nowMs)}`);
}

/** Formats a duration in whole seconds; without seconds from one hour, and in days from two days. */
export function shortDuration(durationMs: number): string {
  const days = Math.floor(durationMs / 86_400_000);
  if (days >= 2) return `${days}d`;
  const unitMs = durationMs >= 3_600_000 ? 60_000 : 1000;
  const text = formatDuration(Math.round(durationMs / unitMs) * unitMs);
  return text.replace(/([hm])0s$/, '$1').replace(/h0m$/, 'h');
}

function moment(atMs: number, text: string): Html {
  const date = new Date(atMs);
  if (Number.isNaN(date.getTime())) return html`–`; // not a valid time
  const time = `${date.toISOString().slice(0, 19)}Z`;
  return html`<time datetime="${time}" title="${time}">${text}</time>`;
}
