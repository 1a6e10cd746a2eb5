import { memoize } from '#lib/cache/memoize.ts';
import type { Encoding } from './document.ts';

/** Formats in order of preference, with their media types. */
export const MEDIA_TYPES = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const;

/** Media types of whole documents. */
export const DOCUMENT_TYPES: readonly string[] = Object.values(MEDIA_TYPES);

/** Media types of lists; a client that requests a stream may get a list instead. */
export const LIST_TYPES: readonly string[] = [
  ...DOCUMENT_TYPES,
  `${MEDIA_TYPES.json};stream=watch`,
  `${MEDIA_TYPES.protobuf};stream=watch`,
];

/** Another kind that the client requests instead of the resource's own: `as=Table;v=v1;g=meta.k8s.io`. */
export interface Conversion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Parameters of media types that an endpoint allows, beyond the format. */
export interface Restrictions {
  allowsConversion(format: Encoding['format'], conversion: Conversion | undefined): boolean;
  /** Whether `sv=` may be this version; none by default. */
  allowsServerVersion?(version: string): boolean;
}

/** For endpoints with one kind of response. */
export const NO_CONVERSION: Restrictions = { allowsConversion: (_format, conversion) => !conversion };

/** Result of content negotiation. */
export interface Representation {
  readonly format: Encoding['format'];
  readonly conversion: Conversion | undefined;
  /** Whether the media type itself requests indentation. */
  readonly isPretty: boolean;
}

const FORMATS: readonly Encoding['format'][] = ['json', 'yaml', 'protobuf'];

/** Formats of streams of events. */
export const STREAM_FORMATS: readonly Encoding['format'][] = ['json', 'protobuf'];

/**
 * Finds the representation for an Accept header, as `negotiation.NegotiateMediaTypeOptions` does: the first clause that
 * matches a format and whose parameters the endpoint allows.
 *
 * @returns `undefined` when none matches: 406
 */
export function negotiate(
  header: string,
  restrictions: Restrictions,
  formats = FORMATS,
): Representation | undefined {
  if (header === '') return { format: 'json', conversion: undefined, isPretty: false };
  for (const range of parseAccept(header)) {
    for (const format of formats) {
      const [type, subtype] = MEDIA_TYPES[format].split('/');
      const isMatch =
        (range.type === type && (range.subtype === subtype || range.subtype === '*')) ||
        (range.type === '*' && range.subtype === '*');
      const representation = isMatch && represent(format, range.parameters, restrictions);
      if (representation) return representation;
    }
  }
  return undefined;
}

function represent(
  format: Encoding['format'],
  parameters: ReadonlyMap<string, string>,
  restrictions: Restrictions,
): Representation | undefined {
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || !STREAM_FORMATS.includes(format))) return undefined;
  const serverVersion = parameters.get('sv') ?? '';
  if (serverVersion !== '' && !restrictions.allowsServerVersion?.(serverVersion)) return undefined;
  const conversion = conversionOf(parameters);
  if (!restrictions.allowsConversion(format, conversion)) return undefined;
  return { format, conversion, isPretty: parameters.get('pretty') === '1' };
}

function conversionOf(parameters: ReadonlyMap<string, string>): Conversion | undefined {
  const [kind, group, version] = [parameters.get('as'), parameters.get('g'), parameters.get('v')];
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  return { kind: kind ?? '', group: group ?? '', version: version ?? '' };
}

/** One clause of an Accept header. */
interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** A longer header is refused before it is parsed; kubectl's has 150 bytes. */
export const MAX_ACCEPT_BYTES = 8 * 1024;

/** Go's `sort.Sort` uses insertion sort up to this length; the order of longer lists is unspecified there. */
const MAX_INSERTED = 12;

/**
 * Parses an Accept header in the order in which Kubernetes tries its clauses: by its goautoneg, a concrete type
 * precedes a wildcard whatever their qualities are, and invalid clauses are ignored.
 *
 * @returns no clauses for a header beyond the bound
 */
export const parseAccept = memoize(readAccept, { maxEntries: 128, maxLength: 512 });

function readAccept(header: string): readonly MediaRange[] {
  if (header.length > MAX_ACCEPT_BYTES) return [];
  const ranges: MediaRange[] = [];
  for (const clause of header.split(',')) {
    const range = parseRange(clause);
    if (range) ranges.push(range);
  }
  return ranges.length > MAX_INSERTED ? ranges.toSorted(compare) : inserted(ranges);
}

/**
 * Moves each clause before the preceding ones that it beats. The relation is not transitive, so the order of steps
 * matters: it is Go's.
 */
function inserted(ranges: readonly MediaRange[]): readonly MediaRange[] {
  const sorted: MediaRange[] = [];
  for (const range of ranges) {
    let at = sorted.length;
    for (let before = sorted[at - 1]; before && beats(range, before); before = sorted[at - 1]) at--;
    sorted.splice(at, 0, range);
  }
  return sorted;
}

function beats(a: MediaRange, b: MediaRange): boolean {
  return (
    a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')
  );
}

/** Concrete types first, then by quality. Equal clauses retain their order, for any number of clauses. */
function compare(a: MediaRange, b: MediaRange): number {
  return wildcards(a) - wildcards(b) || b.quality - a.quality;
}

function wildcards({ type, subtype }: MediaRange): number {
  return Number(type === '*') + Number(subtype === '*');
}

function parseRange(clause: string): MediaRange | undefined {
  const [name = '', ...assignments] = clause.split(';');
  const [type = '', subtype = '', ...more] = name
    .trim()
    .split('/')
    .map((part) => part.trim());
  if (more.length > 0 || (subtype === '' && type !== '*')) return undefined;
  const parameters = new Map<string, string>();
  for (const assignment of assignments) {
    const [key = '', value = '', ...rest] = assignment.split('=');
    if (value !== '' && rest.length === 0) parameters.set(key.trim(), value.trim());
  }
  const quality = parameters.get('q');
  parameters.delete('q');
  return {
    type,
    subtype: subtype || '*',
    quality: quality === undefined ? 1 : Number(quality) || 0,
    parameters,
  };
}
