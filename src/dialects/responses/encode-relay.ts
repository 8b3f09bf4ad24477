import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import { NO_ARGUMENTS } from '../shared/tools/tool-names.ts';
import { type Placement, patchOutputItem, patchOutputPart } from './encode-content.ts';
import { INPUT_CHANNELS, namesItem, TEXT_CHANNELS } from './wire.ts';

/**
 * One upstream event for the caller: with constant ids, gapless positions and numbers, and the members that strict
 * clients require. Returns the same object if nothing changes.
 */
export function patchFrame(
  value: JsonObject,
  type: string,
  sequence: number,
  placement: Placement,
  request: GenerationRequest,
): JsonObject {
  const changes: JsonObject = {};
  if (value.type !== type) changes.type = type;
  if (value.sequence_number !== sequence) changes.sequence_number = sequence;
  const adds = namesItem(type);
  if (value.output_index !== placement.index && (adds || value.output_index !== undefined)) {
    changes.output_index = placement.index;
  }
  const item = objectAt(value, 'item');
  if (item === undefined) {
    if (value.item_id !== placement.id && (adds || value.item_id !== undefined)) {
      changes.item_id = placement.id;
    }
  } else {
    const status = type === 'response.output_item.added' ? 'in_progress' : 'completed';
    changes.item = patchOutputItem(item, placement.id, status, request);
  }
  addMissing(value, type, placement, changes);
  return Object.keys(changes).length === 0 ? value : { ...value, ...changes };
}

/**
 * An event about no item that we know, with its number. `keepsPlace`: the upstream's positions are the caller's; else
 * they are left out, because they could be those of another item.
 */
export function patchUnplaced(value: JsonObject, sequence: number, keepsPlace: boolean): JsonObject {
  if (keepsPlace && value.sequence_number === sequence) return value;
  const { output_index: _index, item_id: _id, ...unplaced } = value;
  return { ...(keepsPlace ? value : unplaced), sequence_number: sequence };
}

/** Client libraries take an `error` for the end of the stream, whatever the type of its event. */
export function withoutError(value: JsonObject): JsonObject {
  const { error, ...rest } = value;
  return error === undefined || error === null ? value : { ...rest, message: textOfError(error) };
}

function textOfError(error: Json): string {
  const text = isJsonObject(error) ? stringAt(error, 'message') : error;
  return typeof text === 'string' ? text : JSON.stringify(error);
}

function addMissing(value: JsonObject, type: string, placement: Placement, changes: JsonObject): void {
  const { delta, done } = TEXT_CHANNELS.text;
  if ((type === delta || type === done) && !Array.isArray(value.logprobs)) changes.logprobs = [];
  if (type === INPUT_CHANNELS.function.done) {
    if (typeof value.name !== 'string') changes.name = placement.name;
    if (value.arguments === '') changes.arguments = NO_ARGUMENTS;
  }
  const part = objectAt(value, 'part');
  const patched = part && patchOutputPart(part);
  if (patched !== part) changes.part = patched;
}
