import type { ServerResponse } from 'node:http';
import type { ApiFault } from './api-fault.ts';

/** Makes of one line of a watch those that are sent instead; each ends with its line feed. */
export type LineRewriter = (line: string) => readonly string[];

/** Has what every watch says rewritten, by a rewriter of its own. */
function rewriteWatches(rewriterFor: () => LineRewriter): ApiFault {
  return {
    serve: async ({ verb, response }, { next }) => {
      if (verb === 'watch') rewriteLines(response, rewriterFor());
      await next();
    },
  };
}

/** The packets of watches that are open vanish from now on, and nobody is told. */
export const muteWatches: ApiFault = rewriteWatches(() => () => []);

/** Leaves out bookmarks, which no server promises. */
export const withholdBookmarks: ApiFault = rewriteWatches(
  () => (line) => (line.startsWith('{"type":"BOOKMARK"') ? [] : [line]),
);

/** Says everything twice. */
export const repeatEvents: ApiFault = rewriteWatches(() => (line) => [line, line]);

/** Sends events two at a time, the later one first. */
export const swapEvents: ApiFault = rewriteWatches(() => {
  let held: string | undefined;
  return (line) => {
    const earlier = held;
    held = earlier === undefined ? line : undefined;
    return earlier === undefined ? [] : [line, earlier];
  };
});

/** Adds events of a type that is yet to be invented, and objects of which nobody has heard. */
export const addUnknownEvents: ApiFault = rewriteWatches(() => (line) => [
  `${JSON.stringify({ type: 'TRANSMUTED', object: { kind: 'Pod', metadata: { name: 'x' } } })}\n`,
  `${JSON.stringify({ type: 'ADDED', object: { kind: 'Sprocket', apiVersion: 'v9' } })}\n`,
  line,
]);

function rewriteLines(response: ServerResponse, rewrite: LineRewriter): void {
  const write = response.write.bind(response) as (chunk: string) => boolean;
  response.write = ((chunk: string) => {
    let isFlowing = true;
    for (const line of rewrite(chunk)) isFlowing = write(line) && isFlowing;
    return isFlowing;
  }) as typeof response.write;
}
