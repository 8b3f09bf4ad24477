import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject } from '../kit/json/json.ts';
import type { Issue } from '../kit/json/validate.ts';
import { versionOfStatus } from './file-version.ts';
import type { Environment } from './parse/environment.ts';
import type { EnvironmentKey, KnownProviders } from './parse/known-providers.ts';
import {
  type ConfigReading,
  MAX_CONFIG_BYTES,
  MAX_PROBLEMS,
  parseConfig,
  parseConfigInThread,
} from './parse/parse-config.ts';
import { shownProblem } from './parse/shown-text.ts';
import { unbuiltWarnings } from './parse/unbuilt.ts';
import { type Flags, type Runtime, readRuntime, startBlockers, variableOf } from './runtime.ts';
import type { Config } from './schema/schema.ts';

export interface LoadedConfiguration {
  readonly config: Config;
  /** The file that was read, absolute; undefined when there is none. */
  readonly file: string | undefined;
  /** The file to watch: the one that was read, or the one that would be read if it were there. */
  readonly watchedFile: string;
  /** The state of the file that was read, as `fileVersion` tells it; empty when there was none. */
  readonly version: string;
  /** The file sets nothing, or there is none. */
  readonly isEmpty: boolean;
  readonly runtime: Runtime;
  /** What has no effect: keys of the file that this version does nothing with, credentials that cannot be used. */
  readonly warnings: readonly Issue[];
  /** Variables of the environment that are credentials of providers. */
  readonly providerKeys: readonly EnvironmentKey[];
  /** The variables that the process was started with; provider keys are among them. */
  readonly environment: Environment;
}

/** A configuration, or everything that is wrong with it. */
export type Loading =
  | { readonly ok: true; readonly loaded: LoadedConfiguration }
  | {
      readonly ok: false;
      readonly problems: readonly Issue[];
      /** As far as flags and environment could be read. */
      readonly runtime: Runtime;
      /** The file that is read if it is there, absolute. */
      readonly file: string;
    };

export interface LoadOptions {
  readonly flags?: Flags;
  /** What is known about providers without being told. */
  readonly knownProviders: KnownProviders;
  /** What is wrong with presets, for those who know the formats of requests; paths begin at the root. */
  readonly presetCheck?: (presets: Config['presets'], vendor: string) => readonly Issue[];
  /** Default: the environment of the process. */
  readonly env?: Environment;
  /** Default: the working directory of the process. */
  readonly cwd?: string;
}

const DEFAULT_FILE = 'signalbox.yaml';

/** Reads flags, environment and file. Looks at the disk and at nothing else; never throws for what people write. */
export function loadConfiguration(options: LoadOptions): Loading {
  const begun = beginLoading(options);
  if (begun.content === undefined) return failed(begun);
  return endLoading(begun, begun.content, parseConfig(begun.content.text, begun.env, begun.knownProviders));
}

/** The same as loadConfiguration, for a process that serves meanwhile: a large file is read in another thread. */
export async function loadConfigurationInThread(options: LoadOptions): Promise<Loading> {
  const begun = beginLoading(options);
  if (begun.content === undefined) return failed(begun);
  const reading = await parseConfigInThread(begun.content.text, begun.env, begun.knownProviders);
  return endLoading(begun, begun.content, reading);
}

/** What is known before the text of the file is understood. */
interface BegunLoading {
  readonly source: Source;
  /** Undefined when the file cannot be read; `problems` says why. */
  readonly content: Content | undefined;
  readonly runtime: Runtime;
  readonly env: Environment;
  readonly knownProviders: KnownProviders;
  readonly presetCheck: LoadOptions['presetCheck'];
  readonly problems: readonly Issue[];
}

function failed({ problems, runtime, source }: BegunLoading): Loading {
  return { ok: false, problems, runtime, file: source.path };
}

function beginLoading(options: LoadOptions): BegunLoading {
  const { flags = {}, env = process.env, cwd = process.cwd(), knownProviders, presetCheck } = options;
  const problems: Issue[] = [];
  const runtime = readRuntime(flags, env, cwd, problems);
  const source = sourceOf(flags, env, cwd);
  const content = readContent(source, problems);
  return { source, content, runtime, env, knownProviders, presetCheck, problems };
}

function endLoading(begun: BegunLoading, { version }: Content, reading: ConfigReading): Loading {
  const { runtime, source, env } = begun;
  const fileProblems = reading.ok ? presetProblems(begun, reading.config) : reading.problems;
  const problems = [...begun.problems, ...fileProblems, ...startBlockers(runtime)];
  if (!reading.ok || problems.length > 0) return { ok: false, problems, runtime, file: source.path };
  return {
    ok: true,
    loaded: {
      config: reading.config,
      file: version === '' ? undefined : source.path,
      watchedFile: source.path,
      version,
      isEmpty: isEmptyObject(reading.written),
      runtime,
      warnings: [...unbuiltWarnings(reading.written), ...reading.warnings],
      providerKeys: reading.keys,
      environment: env,
    },
  };
}

function presetProblems({ presetCheck }: BegunLoading, { presets, vendor }: Config): readonly Issue[] {
  return (presetCheck?.(presets, vendor) ?? []).slice(0, MAX_PROBLEMS).map(shownProblem);
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** A configuration that cannot be used. The message has one `path: problem` line for each problem. */
export class ConfigurationError extends Error {
  readonly problems: readonly Issue[];

  constructor(problems: readonly Issue[]) {
    super(problems.map(problemLine).join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** The same as loadConfiguration, for those who cannot go on without: throws a ConfigurationError. */
export function requireConfiguration(options: LoadOptions): LoadedConfiguration {
  const loading = loadConfiguration(options);
  if (!loading.ok) throw new ConfigurationError(loading.problems);
  return loading.loaded;
}

/** `path: problem`, as it is printed. */
export function problemLine({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}

interface Source {
  readonly path: string;
  /** Somebody named the file, so it has to be there. */
  readonly named: boolean;
}

function sourceOf(flags: Flags, env: Environment, cwd: string): Source {
  const given = flags.config ?? variableOf(env, 'SIGNALBOX_CONFIG');
  return { path: resolve(cwd, given ?? DEFAULT_FILE), named: given !== undefined };
}

/** The text of the file and the state that it was read in; both empty when there is no file and none was named. */
interface Content {
  readonly text: string;
  readonly version: string;
}

function readContent({ path, named }: Source, problems: Issue[]): Content | undefined {
  try {
    // A device may act on being opened at all, and a pipe would make us wait for its writer.
    if (!statSync(path).isFile()) return fail(problems, path, 'is not a file');
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor, { bigint: true });
      if (!status.isFile()) return fail(problems, path, 'is not a file');
      const bytes = status.size > MAX_CONFIG_BYTES ? undefined : readAtMost(descriptor, MAX_CONFIG_BYTES);
      if (bytes === undefined) return fail(problems, path, `is larger than ${MAX_CONFIG_BYTES} bytes`);
      return { text: bytes.toString('utf8'), version: versionOfStatus(status) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT' && !named) return { text: '', version: '' };
    return fail(problems, path, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}

const CHUNK_BYTES = 65_536;

/** All that a file holds; undefined when that is more than `most` bytes, whatever size it says it has. */
function readAtMost(descriptor: number, most: number): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= most; ) {
    const piece = Buffer.alloc(CHUNK_BYTES);
    const count = readSync(descriptor, piece);
    if (count === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, count));
    length += count;
  }
  return undefined;
}

function fail(problems: Issue[], path: string, message: string): undefined {
  problems.push({ path, message });
  return undefined;
}
