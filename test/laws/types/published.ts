import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DialectName, Format } from '../../../src/ir/items.ts';
import { TypeReader } from './read-types.ts';
import { alternativesOf, type ObjectShape, type Shape, STRING } from './shape.ts';

/** Packages whose types are read, as `scripts/test-types.mjs` unpacks them. */
export type PackageName = keyof typeof READERS;

/** A type by its package, file and name. */
export interface Root {
  readonly from: PackageName;
  readonly file: string;
  readonly name: string;
}

const OPENAI = 'openai';
const ANTHROPIC = '@anthropic-ai/sdk';
const GOOGLE = '@google/genai';
const BEDROCK = '@aws-sdk/client-bedrock-runtime';
const ROUTER = '@openrouter/sdk';

const RESPONSES_FILE = 'resources/responses/responses.d.ts';
const MESSAGES_FILE = 'resources/beta/messages/messages.d.ts';
const CHAT_FILE = 'resources/chat/completions/completions.d.ts';
const BEDROCK_FILE = 'dist-types/models/models_0.d.ts';

/** The requests of each format, as its owner publishes them. The beta API has all that the released one has. */
export const REQUESTS: Readonly<Record<Format, readonly Root[]>> = {
  messages: [
    { from: ANTHROPIC, file: MESSAGES_FILE, name: 'MessageCreateParamsBase' },
    { from: ANTHROPIC, file: 'resources/messages/messages.d.ts', name: 'MessageCreateParamsBase' },
  ],
  responses: [{ from: OPENAI, file: RESPONSES_FILE, name: 'ResponseCreateParamsBase' }],
  chat: [{ from: OPENAI, file: CHAT_FILE, name: 'ChatCompletionCreateParamsBase' }],
};

/** The same requests as a hosted router takes them, with members of its own. */
export const ROUTER_REQUESTS: Readonly<Record<Format, Root>> = {
  messages: { from: ROUTER, file: 'esm/models/messagesrequest.d.ts', name: 'MessagesRequest' },
  responses: { from: ROUTER, file: 'esm/models/responsesrequest.d.ts', name: 'ResponsesRequest' },
  chat: { from: ROUTER, file: 'esm/models/chatrequest.d.ts', name: 'ChatRequest' },
};

/** The body of a request on the wire, as far as types of it are published. */
interface Body {
  readonly roots: readonly Root[];
  /** Members of the type that stand in the path. */
  readonly inPath: readonly string[];
  /** Members whose types are published although that of the whole is not. */
  readonly more: Readonly<Record<string, Root | Shape>>;
  /** Those of them that are lists. */
  readonly lists: readonly string[];
}

/** Bodies that upstreams of each dialect take. Gemini's SDK publishes the parts of its body only. */
export const BODIES: Readonly<Record<DialectName, Body>> = {
  messages: { roots: REQUESTS.messages, inPath: [], more: {}, lists: [] },
  responses: { roots: REQUESTS.responses, inPath: [], more: {}, lists: [] },
  chat: { roots: REQUESTS.chat, inPath: [], more: {}, lists: [] },
  gemini: {
    roots: [],
    inPath: [],
    more: {
      contents: google('Content'),
      systemInstruction: google('Content'),
      generationConfig: google('GenerationConfig'),
      tools: google('Tool'),
      toolConfig: google('ToolConfig'),
      safetySettings: google('SafetySetting'),
      cachedContent: STRING,
      serviceTier: google('ServiceTier'),
      labels: { kind: 'map', of: STRING },
    },
    lists: ['contents', 'tools', 'safetySettings'],
  },
  bedrock: {
    roots: [{ from: BEDROCK, file: BEDROCK_FILE, name: 'ConverseRequest' }],
    inPath: ['modelId'],
    more: {},
    lists: [],
  },
};

function google(name: string): Root {
  return { from: GOOGLE, file: 'dist/genai.d.ts', name };
}

/** Whole answers of each dialect. */
export const ANSWERS: Readonly<Record<DialectName, Root>> = {
  messages: { from: ANTHROPIC, file: MESSAGES_FILE, name: 'BetaMessage' },
  responses: { from: OPENAI, file: RESPONSES_FILE, name: 'Response' },
  chat: { from: OPENAI, file: CHAT_FILE, name: 'ChatCompletion' },
  gemini: { from: GOOGLE, file: 'dist/genai.d.ts', name: 'GenerateContentResponse' },
  bedrock: { from: BEDROCK, file: BEDROCK_FILE, name: 'ConverseResponse' },
};

/** Events of the streams that callers read, as the owners of the formats and a hosted router publish them. */
export const EVENTS: Readonly<Record<Format, readonly Root[]>> = {
  messages: [{ from: ANTHROPIC, file: MESSAGES_FILE, name: 'BetaRawMessageStreamEvent' }],
  responses: [
    { from: OPENAI, file: RESPONSES_FILE, name: 'ResponseStreamEvent' },
    { from: ROUTER, file: 'esm/models/streamevents.d.ts', name: 'StreamEvents' },
  ],
  chat: [{ from: OPENAI, file: CHAT_FILE, name: 'ChatCompletionChunk' }],
};

/** Names that go out as headers of the messages format. */
export const BETAS: Root = { from: ANTHROPIC, file: 'resources/beta/beta.d.ts', name: 'AnthropicBeta' };

const asWritten = (name: string) => name;
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** How each package spells the members of the wire. */
const READERS = {
  [OPENAI]: asWritten,
  [ANTHROPIC]: asWritten,
  [GOOGLE]: asWritten,
  [BEDROCK]: asWritten,
  [ROUTER]: snakeCase,
} as const;

/** The published types, in the folders of packages that `scripts/test-types.mjs` unpacked. */
export class PublishedTypes {
  readonly #folders: Readonly<Record<string, string>>;
  readonly #readers = new Map<PackageName, TypeReader>();

  constructor(folders: Readonly<Record<string, string>>) {
    this.#folders = folders;
  }

  /** The object types that a root may be: several if it is a union. */
  objects({ from, file, name }: Root): ObjectShape[] {
    return this.shapes({ from, file, name }).filter((shape) => shape.kind === 'object');
  }

  shapes({ from, file, name }: Root) {
    let reader = this.#readers.get(from);
    if (reader === undefined) {
      reader = new TypeReader(this.#folderOf(from), READERS[from]);
      this.#readers.set(from, reader);
    }
    return alternativesOf(reader.read(file, name));
  }

  versionOf(name: PackageName): string {
    return JSON.parse(readFileSync(join(this.#folderOf(name), 'package.json'), 'utf8')).version;
  }

  #folderOf(name: PackageName): string {
    const folder = this.#folders[name];
    if (folder === undefined) throw new Error(`the types of ${name} are missing: run \`npm run test:types\``);
    return folder;
  }
}

export const PACKAGES = Object.keys(READERS) as PackageName[];
