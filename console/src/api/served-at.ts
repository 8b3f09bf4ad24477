import { anthropicBase } from '../../../src/contract/gateway/anthropic-base.ts';

/** Where clients reach this gateway. */
export interface ServedAt {
  /** The base address of OpenAI clients and of plain requests, such as `http://127.0.0.1:8787/api/v1`. */
  readonly base: string;
  /** The base address of Anthropic clients. */
  readonly anthropic: string;
}

export function servedAt(): ServedAt {
  const { origin } = window.location;
  return servedBelow(origin, basePath());
}

export function servedBelow(origin: string, path: string): ServedAt {
  return { base: `${origin}${path}`, anthropic: `${origin}${anthropicBase(path)}` };
}

/** The gateway writes its own into the page that it serves. */
export function basePath(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '/api/v1';
}
