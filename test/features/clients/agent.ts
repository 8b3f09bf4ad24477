import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChooseCall, SEAL, THOUGHTS } from '../../kit/fakes/agents/tool-loop.ts';

/** An agent or a framework of agents, as its makers ship it. */
export interface Agent {
  readonly name: string;
  /** The package it comes in. */
  readonly package: string;
  /** What the model calls to have the note copied. */
  readonly choose: ChooseCall;
  /** What becomes of the thoughts of a step in the requests that follow. */
  readonly thoughts: keyof typeof RETURNED;
  /** The dialect whose upstreams give thoughts as summaries, for a client that keeps only these: all come back. */
  readonly shownBy?: string;
  /** In its request for a title of the conversation, beside the task, and nowhere else; absent = it makes none. */
  readonly titleRequest?: string;
  /** Absent: the agent has no search that a provider runs. */
  readonly search?: SearchTool;
  /** Works on a task to its end. */
  run(task: Task): Promise<Outcome>;
}

/**
 * What of the thoughts comes back to the upstream. `shown`: all; `hidden`: the seal alone, because the agent asks not
 * to be shown thoughts or its client keeps summaries only; `lost`: nothing, because the client throws away what its
 * format does not document.
 */
export const RETURNED = {
  shown: { thoughts: THOUGHTS, seal: SEAL },
  hidden: { thoughts: undefined, seal: SEAL },
  lost: { thoughts: undefined, seal: undefined },
} as const;

/** The search of an agent. */
export interface SearchTool {
  /** What the model calls to have the web searched. */
  readonly choose: ChooseCall;
  /** The dialect whose upstreams run it themselves. */
  readonly native: string;
}

/** Where an agent works, on what, and through which gateway. */
export interface Task {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
  /** Holds the note, and the copy when the work is done. */
  readonly folder: string;
  /** Stands for the home directory; the agent's settings go there. */
  readonly home: string;
  /** A proxy that lets nothing through. */
  readonly proxy: string;
  /** The agent's search is switched on. */
  readonly searches: boolean;
}

/** Result of an agent. */
export interface Outcome {
  /** Its last text. */
  readonly text: string;
  /** Tokens as it counted them over the whole task; absent is what it does not say. */
  readonly usage?: { readonly input?: number; readonly output: number };
}

/** `node_modules` with the newest releases; undefined outside of `npm run test:clients`. */
export const CLIENTS = process.env.SIGNALBOX_CLIENTS;

export const PROMPT = 'Copy note.txt to copy.txt and tell me the word in it.';
export const SEARCH_PROMPT = 'Search the web for the word of the day and tell me.';
export const NOTE = 'note.txt';
export const COPY = 'copy.txt';
/** Does what the prompt says and prints the note. */
export const COMMAND = `cp ${NOTE} ${COPY} && cat ${COPY}`;

/** False for an agent whose newest release could not be installed. */
export function isInstalled({ package: name }: Pick<Agent, 'package'>): boolean {
  return CLIENTS !== undefined && existsSync(join(CLIENTS, name, 'package.json'));
}

/** The release that is installed. */
export function versionOf({ package: name }: Agent): string {
  return JSON.parse(readFileSync(inClients(name, 'package.json'), 'utf8')).version;
}

/** A path below the installed packages. */
export function inClients(...names: string[]): string {
  if (CLIENTS === undefined) throw new Error('SIGNALBOX_CLIENTS is not set: run npm run test:clients');
  return join(CLIENTS, ...names);
}

/** Calls the search that the gateway runs. */
export const callHosted: ChooseCall = (tools) => {
  const search = tools.find(({ name }) => name === 'web_search');
  return search && { name: search.name, arguments: { query: 'word of the day' } };
};

/** Environment of every agent: no settings of this machine, and no network beyond loopback. */
export function environmentOf({
  home,
  proxy,
  apiKey,
}: Pick<Task, 'home' | 'proxy' | 'apiKey'>): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TMPDIR: home,
    SIGNALBOX_KEY: apiKey,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: '127.0.0.1,localhost',
    NODE_USE_ENV_PROXY: '1',
  };
}
