import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isJsonObject } from '../kit/json/json.ts';
import type { Issue } from '../kit/json/validate.ts';
import { runAtOnce, runInTurns, type Sliced } from '../kit/loop/turns.ts';
import { type CertificateReading, expiryWarnings, readCertificate, tlsFilesIn } from './certificate.ts';
import { versionOfStatus } from './file-version.ts';
import type { Environment } from './parse/environment.ts';
import { fileText } from './parse/file-text.ts';
import { firstProblems, MAX_COUNTED_PROBLEMS, MAX_PROBLEMS } from './parse/first-problems.ts';
import type { EnvironmentKey, KnownProviders } from './parse/known-providers.ts';
import {
  type ConfigReading,
  type ConfigScope,
  MAX_CONFIG_BYTES,
  parseConfig,
  parseConfigInThread,
} from './parse/parse-config.ts';
import { placeProblems, placeProblemsInThread } from './parse/place-problems.ts';
import { shownProblem } from './parse/shown-text.ts';
import { type Problem, problemsText } from './problem.ts';
import { dataDirectoryOf, type Flags, type Runtime, readRuntime, variableOf } from './runtime.ts';
import type { Config } from './schema/schema.ts';

export interface LoadedConfiguration {
  readonly config: Config;
  /** The file that was read, absolute; undefined if there is none. */
  readonly file: string | undefined;
  /** The file to watch; it may not exist yet. */
  readonly watchedFile: string;
  /** `fileVersion` of the file that was read; empty if there was none. */
  readonly version: string;
  /** The text of the file that was read; empty if there was none. */
  readonly text: string;
  /** True if the file sets nothing or does not exist. */
  readonly isEmpty: boolean;
  readonly runtime: Runtime;
  /** Settings without effect, and settings that are legal and almost surely a mistake. */
  readonly warnings: readonly Problem[];
  readonly providerKeys: readonly EnvironmentKey[];
  /** The environment of the process, provider keys included. */
  readonly environment: Environment;
}

export type Loading =
  | { readonly ok: true; readonly loaded: LoadedConfiguration }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      /** Flags and environment; invalid values are replaced by defaults. */
      readonly runtime: Runtime;
      readonly file: string;
    };

export interface LoadOptions {
  readonly flags?: Flags;
  readonly knownProviders: KnownProviders;
  /** Checks presets against the request formats, which this room does not know; paths begin at the root. */
  readonly presetCheck?: (presets: Config['presets'], vendor: string) => readonly Problem[];
  /** Checks the ids of models, as far as other rooms know; paths begin at the root. */
  readonly modelCheck?: (models: Config['models'], vendor: string) => readonly Issue[];
  /** Checks workspaces beyond their schema, as far as other rooms know, in slices; paths begin at the root. */
  readonly declarationCheck?: (config: Config) => Sliced<readonly Problem[]>;
  /** Finds what is legal and almost surely a mistake, as far as other rooms know; paths begin at the root. */
  readonly likelyMistakes?: (config: Config) => readonly Issue[];
  /** How much of the file is read; the whole of it by default. */
  readonly scope?: ConfigScope;
  /** Default: the environment of the process. */
  readonly env?: Environment;
  /** Default: the working directory of the process. */
  readonly cwd?: string;
}

const DEFAULT_FILE = 'signalbox.yaml';

/** Loads flags, environment and file. Invalid input is returned as problems, never thrown. */
export function loadConfiguration(options: LoadOptions): Loading {
  const begun = beginLoading(options);
  if (begun.content === undefined) return failed(begun);
  const { content, env, knownProviders } = begun;
  const reading = parseConfig(content.text, env, knownProviders, options.scope);
  const { loading, found } = runAtOnce(endLoading(begun, content, reading));
  return withFound(loading, placeProblems(found, content.text));
}

/**
 * `loadConfiguration` with YAML parsed in another thread and checks in slices, so that a serving process is
 * not blocked.
 */
export async function loadConfigurationInThread(options: LoadOptions): Promise<Loading> {
  const begun = beginLoading(options);
  if (begun.content === undefined) return failed(begun);
  const { text } = begun.content;
  const reading = await parseConfigInThread(text, begun.env, begun.knownProviders);
  const { loading, found } = await runInTurns(endLoading(begun, begun.content, reading));
  return withFound(loading, await placeProblemsInThread(found, text));
}

/** State before the text is parsed. */
interface BegunLoading {
  readonly source: Source;
  /** Undefined if the file cannot be read; `problems` has the reason. */
  readonly content: Content | undefined;
  readonly runtime: Runtime;
  readonly env: Environment;
  readonly knownProviders: KnownProviders;
  readonly presetCheck: LoadOptions['presetCheck'];
  readonly modelCheck: LoadOptions['modelCheck'];
  readonly declarationCheck: LoadOptions['declarationCheck'];
  readonly likelyMistakes: LoadOptions['likelyMistakes'];
  /** The whole file is read, not only what a command needs. */
  readonly isWhole: boolean;
  readonly problems: readonly Problem[];
}

function failed({ problems, runtime, source }: BegunLoading): Loading {
  return { ok: false, problems, runtime, file: source.path };
}

function beginLoading(options: LoadOptions): BegunLoading {
  const { flags = {}, env = process.env, cwd = process.cwd(), knownProviders } = options;
  const { presetCheck, modelCheck, declarationCheck } = options;
  // A command does not read all of the file, so much of it would look unused.
  const isWhole = options.scope === undefined || options.scope === 'whole';
  const likelyMistakes = isWhole ? options.likelyMistakes : undefined;
  const problems: Problem[] = [];
  const runtime = readRuntime(flags, env, cwd, problems);
  const source = sourceOf(flags, env, cwd);
  const content = readContent(source, problems);
  return {
    source,
    content,
    runtime,
    env,
    knownProviders,
    presetCheck,
    modelCheck,
    declarationCheck,
    likelyMistakes,
    isWhole,
    problems,
  };
}

/** A loading without its problems or warnings, and these, which have no places yet. */
interface Unplaced {
  readonly loading: Loading;
  readonly found: readonly Problem[];
}

function withFound(loading: Loading, found: readonly Problem[]): Loading {
  if (!loading.ok) return { ...loading, problems: found };
  return { ok: true, loaded: { ...loading.loaded, warnings: found } };
}

function* endLoading(
  begun: BegunLoading,
  { version, text }: Content,
  reading: ConfigReading,
): Sliced<Unplaced> {
  const { runtime, source, env } = begun;
  const readable = reading.ok ? reading.config : reading.sound?.config;
  const tls = readable && certificateOf(begun, readable);
  const further = readable === undefined ? [] : yield* furtherProblems(begun, readable, tls);
  const fileProblems = reading.ok
    ? further
    : [...reading.problems, ...(reading.sound?.further(further) ?? [])];
  const problems = [...begun.problems, ...firstProblems(fileProblems)];
  if (!reading.ok || problems.length > 0) {
    return { loading: { ok: false, problems: [], runtime, file: source.path }, found: problems };
  }
  const loaded: LoadedConfiguration = {
    config: reading.config,
    file: version === '' ? undefined : source.path,
    watchedFile: source.path,
    version,
    text,
    isEmpty: isEmptyObject(reading.written),
    runtime,
    warnings: [],
    providerKeys: reading.keys,
    environment: env,
  };
  yield;
  const likely = (begun.likelyMistakes?.(reading.config) ?? []).slice(0, MAX_PROBLEMS).map(shownProblem);
  yield;
  const expired = tls?.ok === true ? expiryWarnings(tls.certificate, Date.now()).map(shownProblem) : [];
  const found = [...reading.warnings, ...expired, ...likely];
  return { loading: { ok: true, loaded }, found };
}

/** Undefined without `server.tls`, and for commands, which do not serve. */
function certificateOf(
  { source, isWhole }: BegunLoading,
  { server }: Config,
): CertificateReading | undefined {
  if (!isWhole || server.tls === null) return undefined;
  return readCertificate(tlsFilesIn(dirname(source.path), server.tls));
}

function* furtherProblems(
  { presetCheck, modelCheck, declarationCheck }: BegunLoading,
  config: Config,
  tls: CertificateReading | undefined,
): Sliced<Problem[]> {
  const declared = declarationCheck === undefined ? [] : yield* declarationCheck(config);
  return [
    ...(tls?.ok === false ? tls.problems : []),
    ...(modelCheck?.(config.models, config.vendor) ?? []),
    ...(presetCheck?.(config.presets, config.vendor) ?? []),
    ...declared,
  ]
    .slice(0, MAX_COUNTED_PROBLEMS)
    .map(shownProblem);
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** An invalid configuration. The message is the text of all problems, as `check-config` prints it. */
export class ConfigurationError extends Error {
  readonly problems: readonly Problem[];
  readonly file: string;

  constructor(problems: readonly Problem[], file: string) {
    super(problemsText(problems, file).trimEnd());
    this.name = 'ConfigurationError';
    this.problems = problems;
    this.file = file;
  }
}

/** The error of problems that were found after a file was loaded, with their places in it. */
export function configurationErrorOf(problems: readonly Issue[], path: string): ConfigurationError {
  const content = readContent({ path, isNamed: true }, []);
  const shown = firstProblems(problems).map(shownProblem);
  return new ConfigurationError(placeProblems(shown, content?.text ?? ''), path);
}

/** `loadConfiguration`, but throws a ConfigurationError. */
export function requireConfiguration(options: LoadOptions): LoadedConfiguration {
  const loading = loadConfiguration(options);
  if (!loading.ok) throw new ConfigurationError(loading.problems, loading.file);
  return loading.loaded;
}

/** A variable of the process's environment; undefined if it is not set or empty. */
export function environmentVariable(name: string): string | undefined {
  return variableOf(process.env, name);
}

/** The data directory, absolute, without reading the file. */
export function findDataDirectory(flags: Flags): string {
  return dataDirectoryOf(flags, process.env, process.cwd());
}

interface Source {
  readonly path: string;
  /** True if a flag or variable names the file: then it must exist. */
  readonly isNamed: boolean;
}

function sourceOf(flags: Flags, env: Environment, cwd: string): Source {
  const given = flags.config ?? variableOf(env, 'SIGNALBOX_CONFIG');
  return { path: resolve(cwd, given ?? DEFAULT_FILE), isNamed: given !== undefined };
}

/** The file's text and version; both empty if there is no file and none was named. */
interface Content {
  readonly text: string;
  readonly version: string;
}

function readContent({ path, isNamed }: Source, problems: Problem[]): Content | undefined {
  try {
    // Opening a device may have effects, and opening a pipe would wait for its writer.
    if (!statSync(path).isFile()) return fail(problems, path, 'is not a file');
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor, { bigint: true });
      if (!status.isFile()) return fail(problems, path, 'is not a file');
      const bytes = status.size > MAX_CONFIG_BYTES ? undefined : readAtMost(descriptor, MAX_CONFIG_BYTES);
      if (bytes === undefined) return fail(problems, path, `is larger than ${MAX_CONFIG_BYTES} bytes`);
      const { text, problem } = fileText(bytes);
      if (problem === undefined) return { text, version: versionOfStatus(status) };
      problems.push(...placeProblems([problem], text));
      return undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT' && !isNamed) return { text: '', version: '' };
    return fail(problems, path, code === 'ENOENT' ? NO_FILE : `cannot be read (${code}); ${READABLE}`);
  }
}

const NO_FILE = 'does not exist; make it, or name another one with --config';
const READABLE = 'let the user that runs signalbox read it';

const CHUNK_BYTES = 65_536;

/** Reads a whole file; undefined if it has more than `maxBytes`, whatever its reported size. */
function readAtMost(descriptor: number, maxBytes: number): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= maxBytes; ) {
    const piece = Buffer.alloc(CHUNK_BYTES);
    const count = readSync(descriptor, piece);
    if (count === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, count));
    length += count;
  }
  return undefined;
}

function fail(problems: Problem[], path: string, message: string): undefined {
  problems.push({ path, message });
  return undefined;
}
