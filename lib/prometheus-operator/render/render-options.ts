import { boolean, type FlagSection, flag, repeatedText, text } from '#lib/flags/flag.ts';
import { formatHelp } from '#lib/flags/format-flags.ts';
import { FlagError, parseFlags } from '#lib/flags/parse-flags.ts';

export interface RenderOptions {
  /** Files, and folders whose files are read. */
  readonly paths: readonly string[];
  /** Of objects without a namespace. */
  readonly namespace: string;
  /** Whether Secrets and ConfigMaps that are not in the files count as present. */
  readonly assumesReferences: boolean;
  readonly showsSecrets: boolean;
}

type RenderCommandLine =
  | { readonly kind: 'render'; readonly options: RenderOptions }
  | { readonly kind: 'help'; readonly text: string };

const renderFlags = {
  paths: flag('filename', repeatedText, {
    shorthand: 'f',
    default: [],
    description:
      'File or folder with objects in YAML or JSON. Folders are read with their subfolders. Can be repeated.',
  }),
  namespace: flag('namespace', text, {
    shorthand: 'n',
    default: 'default',
    description: 'Namespace of objects without one.',
  }),
  assumesReferences: flag('assume-references', boolean, {
    default: false,
    description:
      'Assume that Secrets and ConfigMaps that are not in the files exist. Placeholders represent their values.',
  }),
  showsSecrets: flag('show-secrets', boolean, {
    default: false,
    description: 'Print passwords and tokens, instead of <secret>.',
  }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};

const SECTIONS: readonly FlagSection[] = [{ title: 'Flags', flags: renderFlags }];

/**
 * Parses the command line of `prometheus-operator render`.
 *
 * @param argv after `render`
 * @throws {FlagError} for unknown or malformed flags, and without a file
 */
export function parseRenderOptions(argv: readonly string[]): RenderCommandLine {
  const { values, arguments: unexpected } = parseFlags(renderFlags, argv);
  if (values.help)
    return { kind: 'help', text: formatHelp('prometheus-operator render -f FOLDER [flags]', SECTIONS) };
  if (unexpected.length > 0) throw new FlagError('render takes no arguments, but files by -f');
  if (values.paths.length === 0) throw new FlagError('render needs a file or folder: -f FOLDER');
  return { kind: 'render', options: values };
}
