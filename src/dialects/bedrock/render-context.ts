import type { CacheMark, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { Report } from '../shared/report/report.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';
import { takes } from './render-losses.ts';
import type { WireRole } from './wire.ts';

/** Context of rendering one request, and the report that it collects. */
export interface RenderContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly traits: ModelTraits;
  readonly report: Report;
  /** The upstream's names of the request's tools. */
  readonly names: FlatNames;
  /** False if the endpoint takes neither tools nor calls and results of earlier turns. */
  readonly takesTools: boolean;
}

export function renderContext(request: GenerationRequest, target: RenderTarget): RenderContext {
  return {
    request,
    target,
    traits: traitsOf(target.model),
    report: new Report(request),
    names: flatNames(request),
    takesTools: takes('tools', target),
  };
}

// --- The prompt on its way out --------------------------------------------------------------------------------------

/** A block of the prompt, before calls are paired and cache points are set. */
export interface Piece {
  /** Calls and results: without the id that pairs them. */
  readonly block: JsonObject;
  /** Set if a cache point follows. */
  readonly mark?: Mark;
  readonly call?: ToolCallItem;
  readonly result?: ToolResultItem;
}

/** A cache mark, and its path in the caller's body. */
export interface Mark {
  readonly cache: CacheMark;
  readonly field: string;
}

/** Consecutive blocks of one role. */
export interface Turn {
  readonly role: WireRole;
  readonly pieces: readonly Piece[];
}
