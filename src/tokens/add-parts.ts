import type { EmbeddingInput } from '../ir/embedding.ts';
import type { Item, Part, Source } from '../ir/items.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { objectAt } from '../kit/json/members.ts';
import { has, isFile, isImage, isText, isUpstreamContent } from './file-content.ts';
import type { PartCounter } from './part-counter.ts';

/** Role and separators of a message. */
export const MESSAGE_OVERHEAD_TOKENS = 4;

/** Passes everything countable of a prompt to a counter, and returns the counter. */
export function addPrompt<T extends PartCounter>(request: GenerationRequest, to: T): T {
  const { items, tools, outputFormat, embedding } = request;
  if (embedding !== undefined) return addInputs(embedding.inputs, to);
  for (const item of items) addItem(item, to);
  for (const tool of tools) addTool(tool, to);
  if (outputFormat?.type === 'json-schema') to.addJson(outputFormat.schema);
  to.addTokens(items.length * MESSAGE_OVERHEAD_TOKENS);
  addUnmodelledFields(request, to);
  return to;
}

/** Passes inputs of embeddings to a counter: nothing is put around them. */
function addInputs<T extends PartCounter>(inputs: readonly EmbeddingInput[], to: T): T {
  for (const input of inputs) {
    if (typeof input === 'string') to.addText(input);
    else to.addTokens(input.length);
  }
  return to;
}

/** Hosted tools through which the upstream adds pages, files or outputs to the prompt. */
const READERS = /^(?:web_fetch|mcp|file_search|code_interpreter|code_execution|shell)/;

function addTool(tool: Tool, to: PartCounter): void {
  to.addJson(tool);
  if (tool.type === 'hosted' && READERS.test(tool.kind) && !isLocal(tool.value)) to.addDocument();
}

/** A shell that the caller runs: its output comes with the next request. */
function isLocal(tool: JsonObject): boolean {
  return objectAt(tool, 'environment')?.type === 'local';
}

/** Body fields that make the upstream read from servers or containers. */
const READING_FIELDS = ['mcp_servers', 'container'];

function addUnmodelledFields({ body, ext, unknownFields }: GenerationRequest, to: PartCounter): void {
  for (const fields of Object.values(ext)) if (fields !== undefined) to.addUnmodelled(fields);
  for (const name of unknownFields) {
    const value = body[name];
    if (typeof value === 'object' && value !== null) to.addUnmodelled(value);
  }
  for (const name of READING_FIELDS) {
    if (typeof body[name] === 'object' && body[name] !== null) to.addDocument();
  }
}

/** Passes everything countable of an item, of a prompt or an answer, to a counter. */
export function addItem(item: Item, to: PartCounter): void {
  if ('ext' in item && item.ext !== undefined) to.addUnmodelled(item.ext);
  switch (item.type) {
    case 'message':
    case 'tool-result':
      for (const part of item.content) addPart(part, to);
      return;
    case 'reasoning':
      for (const text of item.text) to.addText(text);
      for (const text of item.summary) to.addText(text);
      to.addSeal((item.signature?.length ?? 0) + (item.encrypted?.length ?? 0));
      return;
    case 'tool-call':
      to.addText(item.name);
      to.addText(item.input);
      to.addSeal(item.signature?.length ?? 0);
      return;
    case 'image':
      to.addImage(item.source);
      return;
    case 'opaque':
      to.addJson(item.value);
      // Only files and images: pages that calls of hosted tools name are not read again.
      if (has(item.value, isFile)) to.addDocument();
      else if (has(item.value, isImage)) to.addImage();
      return;
  }
}

function addPart(part: Part, to: PartCounter): void {
  if ('ext' in part && part.ext !== undefined) to.addUnmodelled(part.ext);
  switch (part.type) {
    case 'text':
      to.addText(part.text);
      return;
    case 'refusal':
      to.addText(part.refusal);
      return;
    case 'opaque':
      to.addJson(part.value);
      if (has(part.value, isUpstreamContent)) to.addDocument();
      return;
    case 'file':
      addFile(part.source, to);
      if (part.filename !== undefined) to.addUnmodelled([part.filename]);
      return;
    case 'image':
      to.addImage(part.source);
      return;
    case 'audio':
    case 'video':
      to.addDocument();
  }
}

/** A text file has at most one token per byte; any other file may hold any number of pages. */
function addFile(source: Source, to: PartCounter): void {
  if (source.kind === 'text') to.addText(source.text);
  else if (source.kind === 'base64' && isText(source)) to.addTokens(bytesOf(source.data));
  else to.addDocument();
}

function bytesOf(base64: string): number {
  return Math.ceil((base64.length * 3) / 4);
}
