import type { Encoding } from '#lib/apiserver/encoding/document.ts';
import { parseAccept } from './accept-header.ts';

/** The formats in the order of preference, with their media types. */
export const MEDIA_TYPES = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
} as const;

/** What whole documents are served in. */
export const DOCUMENT_TYPES: readonly string[] = Object.values(MEDIA_TYPES);

/** What lists are served in; a client that asks for a stream may get a list all the same. */
export const LIST_TYPES: readonly string[] = [
  ...DOCUMENT_TYPES,
  `${MEDIA_TYPES.json};stream=watch`,
  `${MEDIA_TYPES.protobuf};stream=watch`,
];

/** Another kind that the client asks for instead of the resource's own: `as=Table;v=v1;g=meta.k8s.io`. */
export interface Conversion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What an endpoint lets clients ask for beyond the format. */
export interface Restrictions {
  allowsConversion(format: Encoding['format'], conversion: Conversion | undefined): boolean;
  /** Whether `sv=` may name this version; none by default. */
  allowsServerVersion?(version: string): boolean;
}

/** endpoints that respond with one kind only. */
export const NO_CONVERSION: Restrictions = { allowsConversion: (_format, conversion) => !conversion };

/** What server and client agree on. */
export interface Representation {
  readonly format: Encoding['format'];
  readonly conversion: Conversion | undefined;
  /** Whether the media type itself asked for indentation. */
  readonly isPretty: boolean;
}

const FORMATS: readonly Encoding['format'][] = ['json', 'yaml', 'protobuf'];

/** The formats in which events can follow one another. */
export const STREAM_FORMATS: readonly Encoding['format'][] = ['json', 'protobuf'];

/**
 * Finds the representation that an Accept header asks for, as `negotiation.NegotiateMediaTypeOptions` does:
 * the first clause that fits a format and whose parameters the endpoint allows.
 *
 * @returns `undefined` when nothing fits: 406
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
