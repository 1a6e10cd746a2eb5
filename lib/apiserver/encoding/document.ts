import { goJson, goJsonText, type JsonObject } from './json.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/** A whole response in Kubernetes' object model, not encoded yet. */
export interface Document {
  /** Empty where Kubernetes leaves it out. */
  readonly apiVersion: string;
  readonly kind: string;
  /** All fields but kind and apiVersion, in the order of publication. */
  fields(): JsonObject;
  /** The same as JSON on one line, without the enclosing braces. */
  membersText(): string;
  /** Writes the same fields to the document's protobuf message. */
  writeFields(message: ProtobufWriter): void;
}

export interface Encoding {
  readonly format: 'json' | 'yaml' | 'protobuf';
  /** Whether JSON is indented; ignored in other formats. */
  readonly isPretty: boolean;
}

/**
 * Encodes a document as Kubernetes' own serializers do, as a string where the format is text. JSON ends with a line
 * break unless it is indented.
 *
 * @returns a promise for YAML, whose package is loaded on first use
 */
export function encodeDocument(
  document: Document,
  { format, isPretty }: Encoding,
): string | Buffer | Promise<string> {
  if (format === 'yaml')
    return import('./yaml.ts').then(({ writeYaml }) => writeYaml(documentJson(document)));
  if (format === 'protobuf') {
    const message = new ProtobufWriter();
    document.writeFields(message);
    return runtimeUnknown(document, message.finish());
  }
  return isPretty ? goJson(documentJson(document), 2) : documentText(document);
}

function documentText({ kind, apiVersion, membersText }: Document): string {
  const type = `"kind":${goJsonText(kind)}${apiVersion && `,"apiVersion":${goJsonText(apiVersion)}`}`;
  const members = membersText();
  return `{${type}${members && ','}${members}}\n`;
}

/** The document as one JSON object. */
export function documentJson(document: Pick<Document, 'apiVersion' | 'kind' | 'fields'>): JsonObject {
  const { kind, apiVersion } = document;
  return { kind, ...(apiVersion && { apiVersion }), ...document.fields() };
}

const MAGIC = Buffer.from('k8s\0');

interface Type {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Wraps a message into the envelope of Kubernetes' protobuf: `k8s\0` and a `runtime.Unknown`. */
export function runtimeUnknown(type: Type, message: Buffer): Buffer {
  const { head, tail } = envelope(type, message.length);
  return Buffer.concat([head, message, tail]);
}

/** The bytes of {@link runtimeUnknown} before and after a message of a given length. */
export function envelope(
  { apiVersion, kind }: Type,
  messageBytes: number,
): { readonly head: Buffer; readonly tail: Buffer } {
  const writer = new ProtobufWriter();
  writer.raw(MAGIC);
  writer.message(1, () => {
    writer.string(1, apiVersion);
    writer.string(2, kind);
  });
  writer.bytesHead(2, messageBytes);
  const head = writer.finish();
  writer.string(3, ''); // contentEncoding
  writer.string(4, ''); // contentType
  return { head, tail: writer.finish() };
}
